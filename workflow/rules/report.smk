# From measures to what a person reads: tables, figures, claims and one page with all of them.

PAGE_FILES = ("report.html.j2", "style.css")


localrules:
    describe,
    tabulate,
    plot,
    claim,
    report,


rule describe:
    input:
        encoded=sentence(corpora_behind),
        expected=expected_values,
    output:
        multiext(f"{SCALE}/tables/{{paper}}/{{table}}", *[f".{x}" for x in TABLE_FORMATS]),
    log:
        f"{SCALE}/logs/describe/{{paper}}/{{table}}.log",
    benchmark:
        f"{SCALE}/benchmarks/describe/{{paper}}/{{table}}.tsv"
    wildcard_constraints:
        paper=rf"(?={CORPORA})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=lambda wildcards: paper_of(wildcards).definition("corpora", wildcards.table),
        code=sentence(lambda wildcards: code_of("describe")),
        corpora=sentence(corpora_json),
        # Naming `output` keeps a parameter out of what runs a job again: a moved folder is none.
        data=lambda wildcards, output: f"{RESULTS}/data",
        scale=PLAN.scale,
        prefix=lambda wildcards, output: str(Path(output[0]).with_suffix("")),
    shell:
        "exec python -m workflow.scripts.describe --paper {wildcards.paper}"
        " --table {wildcards.table} --scale {params.scale:q} --data {params.data:q}"
        " --corpora {params.corpora:q} --out-prefix {params.prefix:q} > {log:q} 2>&1"


rule tabulate:
    input:
        measures=measures_behind("tables"),
        runs=run_files_behind("tables"),
        expected=expected_values,
        base=base_table,
    output:
        multiext(f"{SCALE}/tables/{{paper}}/{{table}}", *[f".{x}" for x in TABLE_FORMATS]),
    log:
        f"{SCALE}/logs/tabulate/{{paper}}/{{table}}.log",
    benchmark:
        f"{SCALE}/benchmarks/tabulate/{{paper}}/{{table}}.tsv"
    wildcard_constraints:
        paper=rf"(?!{CORPORA})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=definition("tables"),
        code=code_behind("tables", "tabulate"),
        mechanisms=lambda wildcards: paper_of(wildcards).mechanisms(wildcards.table),
        base=lambda wildcards, input: ["--base", *input.base] if input.base else [],
        scale=PLAN.scale,
        prefix=lambda wildcards, output: str(Path(output[0]).with_suffix("")),
    shell:
        "exec python -m workflow.scripts.tabulate --paper {wildcards.paper}"
        " --table {wildcards.table} --measures {input.measures:q} --runs {input.runs:q}"
        " --mechanisms {params.mechanisms:q} {params.base:q} --scale {params.scale:q}"
        " --out-prefix {params.prefix:q} > {log:q} 2>&1"


rule plot:
    input:
        measures=measures_behind("figures"),
        runs=run_files_behind("figures"),
        expected=expected_values,
    output:
        multiext(f"{SCALE}/figures/{{paper}}/{{figure}}", *[f".{x}" for x in FIGURE_FORMATS]),
    log:
        f"{SCALE}/logs/plot/{{paper}}/{{figure}}.log",
    benchmark:
        f"{SCALE}/benchmarks/plot/{{paper}}/{{figure}}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        definition=definition("figures"),
        code=code_behind("figures", "plot"),
        scale=PLAN.scale,
        prefix=lambda wildcards, output: str(Path(output[0]).with_suffix("")),
    shell:
        "exec python -m workflow.scripts.plot --paper {wildcards.paper}"
        " --figure {wildcards.figure} --measures {input.measures:q} --runs {input.runs:q}"
        " --scale {params.scale:q} --out-prefix {params.prefix:q} > {log:q} 2>&1"


rule claim:
    input:
        measures=measures_behind("claims"),
        runs=run_files_behind("claims"),
        expected=expected_values,
    output:
        f"{SCALE}/claims/{{paper}}.json",
    log:
        f"{SCALE}/logs/claim/{{paper}}.log",
    benchmark:
        f"{SCALE}/benchmarks/claim/{{paper}}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=definition("claims"),
        code=code_behind("claims", "claim"),
        scale=PLAN.scale,
    shell:
        "exec python -m workflow.scripts.claim --paper {wildcards.paper}"
        " --measures {input.measures:q} --runs {input.runs:q} --scale {params.scale:q}"
        " --out {output:q} > {log:q} 2>&1"


rule report:
    input:
        lambda wildcards: TARGETS.selected,
        page=[os.path.relpath(ROOT / "workflow" / "report" / name) for name in PAGE_FILES],
    output:
        page=f"{SCALE}/report.html",
        checksum=f"{SCALE}/report.json",
    log:
        f"{SCALE}/logs/report.log",
    benchmark:
        f"{SCALE}/benchmarks/report.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        runs=kind_of("runs", "run.json"),
        tables=kind_of("tables", ".csv"),
        figures=kind_of("figures", ".png"),
        claims=kind_of("claims", ".json"),
        scale=PLAN.scale,
        plan=f"{SCALE}/plan.json",
        mechanisms=list(PLAN.mechanisms),
        code=sentence(lambda wildcards: code_of("report")),
    shell:
        "exec python -m workflow.scripts.report --scale {params.scale:q} --runs {params.runs:q}"
        " --tables {params.tables:q} --figures {params.figures:q} --claims {params.claims:q}"
        " --mechanisms {params.mechanisms:q} --plan {params.plan:q} --out {output.page:q}"
        " > {log:q} 2>&1"
