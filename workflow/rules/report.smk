# From measures to what a person reads: tables, figures, claims and one page with all of them.


report: "../report/captions/workflow.rst"


localrules:
    describe,
    tabulate,
    plot,
    claim,
    report,
    explore,


rule describe:
    input:
        encoded=sentence(INPUTS.of_describe),
        expected=sentence(INPUTS.expected),
    output:
        flagged(f"{SCALE}/tables/{{paper}}/{{table}}", TABLE_FORMATS, "csv", "table"),
    log:
        f"{SCALE}/logs/describe/{{paper}}/{{table}}.log",
    wildcard_constraints:
        paper=rf"(?={DESCRIBED})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=sentence(INPUTS.definition("corpora")),
        code=INPUTS.code("describe"),
        corpora=sentence(INPUTS.corpora_json),
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
        measures=sentence(INPUTS.measures("tables")),
        runs=sentence(INPUTS.run_files("tables")),
        expected=sentence(INPUTS.expected),
        base=INPUTS.base_table,
    output:
        flagged(f"{SCALE}/tables/{{paper}}/{{table}}", TABLE_FORMATS, "csv", "table"),
    log:
        f"{SCALE}/logs/tabulate/{{paper}}/{{table}}.log",
    wildcard_constraints:
        paper=rf"(?!{DESCRIBED})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=sentence(INPUTS.definition("tables")),
        code=sentence(INPUTS.drawing_code("tables", "tabulate")),
        mechanisms=sentence(INPUTS.mechanisms),
        base=lambda wildcards, input: ["--base", *input.base] if input.base else [],
        overlaid=sentence(INPUTS.overlaid),
        scale=PLAN.scale,
        prefix=lambda wildcards, output: str(Path(output[0]).with_suffix("")),
    shell:
        "exec python -m workflow.scripts.tabulate --paper {wildcards.paper}"
        " --table {wildcards.table} --measures {input.measures:q} --runs {input.runs:q}"
        " --mechanisms {params.mechanisms:q} {params.base:q} {params.overlaid:q}"
        " --scale {params.scale:q}"
        " --out-prefix {params.prefix:q} > {log:q} 2>&1"


rule plot:
    input:
        measures=sentence(INPUTS.measures("figures")),
        runs=sentence(INPUTS.run_files("figures")),
        expected=sentence(INPUTS.expected),
    output:
        flagged(f"{SCALE}/figures/{{paper}}/{{figure}}", FIGURE_FORMATS, "png", "figure"),
    log:
        f"{SCALE}/logs/plot/{{paper}}/{{figure}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        definition=sentence(INPUTS.definition("figures")),
        code=sentence(INPUTS.drawing_code("figures", "plot")),
        scale=PLAN.scale,
        prefix=lambda wildcards, output: str(Path(output[0]).with_suffix("")),
    shell:
        "exec python -m workflow.scripts.plot --paper {wildcards.paper}"
        " --figure {wildcards.figure} --measures {input.measures:q} --runs {input.runs:q}"
        " --scale {params.scale:q} --out-prefix {params.prefix:q} > {log:q} 2>&1"


rule claim:
    input:
        measures=sentence(INPUTS.measures("claims")),
        runs=sentence(INPUTS.run_files("claims")),
        expected=sentence(INPUTS.expected),
    output:
        flagged(f"{SCALE}/claims/{{paper}}", ["json"], "json", "claim"),
    log:
        f"{SCALE}/logs/claim/{{paper}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        definition=sentence(INPUTS.definition("claims")),
        code=sentence(INPUTS.drawing_code("claims", "claim")),
        scale=PLAN.scale,
    shell:
        "exec python -m workflow.scripts.claim --paper {wildcards.paper}"
        " --measures {input.measures:q} --runs {input.runs:q} --scale {params.scale:q}"
        " --out {output:q} > {log:q} 2>&1"


rule report:
    input:
        lambda wildcards: TARGETS.selected,
        page=page_files("report"),
    output:
        page=f"{SCALE}/report.html",
        checksum=f"{SCALE}/report.json",
    log:
        f"{SCALE}/logs/report.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=10,
    params:
        runs=INPUTS.results("runs", "run.json"),
        tables=INPUTS.results("tables", ".csv"),
        figures=INPUTS.results("figures", ".svg"),
        claims=INPUTS.results("claims", ".json"),
        scale=PLAN.scale,
        plan=f"{SCALE}/plan.json",
        mechanisms=list(PLAN.mechanisms),
        explorer=lambda wildcards: [Path(page).name for page in INPUTS.explorer(wildcards)],
        code=INPUTS.code("report"),
    shell:
        "exec python -m workflow.scripts.report --scale {params.scale:q} --runs {params.runs:q}"
        " --tables {params.tables:q} --figures {params.figures:q} --claims {params.claims:q}"
        " --mechanisms {params.mechanisms:q} --plan {params.plan:q}"
        " --explorer {params.explorer:q} --out {output.page:q}"
        " > {log:q} 2>&1"


rule explore:
    input:
        unpack(sentence(INPUTS.of_explore)),
        page=[*page_files("explorer"), "workflow/report/colours.css"],
    output:
        page=report(
            f"{SCALE}/explorer.html",
            caption="../report/captions/result.rst",
            category="Explorer",
            labels={"scale": PLAN.scale},
        ),
        checksum=f"{SCALE}/explorer.json",
    log:
        f"{SCALE}/logs/explore.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        runs=INPUTS.results("runs", "run.json"),
        measures=INPUTS.results("measures", ".json"),
        # Naming `output` keeps a parameter out of what runs a job again: a moved folder is none.
        data=lambda wildcards, output: f"{RESULTS}/data",
        definition=INPUTS.explored,
        scale=PLAN.scale,
        code=sentence(lambda wildcards: INPUTS.code("explore")),
    shell:
        "exec python -m workflow.scripts.explore --scale {params.scale:q} --runs {params.runs:q}"
        " --measures {params.measures:q} --data {params.data:q} --out {output.page:q} > {log:q} 2>&1"
