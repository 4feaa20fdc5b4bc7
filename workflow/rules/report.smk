# From measures to what a person reads: tables, figures, claims and one page with all of them.


report: "../report/captions/workflow.rst"


for batch in BATCHES:

    rule:
        name:
            batch.rule
        input:
            measures=compared(batch.measures, batch.first_file),
            runs=sentence(batch.run_files),
            encoded=sentence(batch.encoded),
            expected=sentence(batch.expected),
            before=sentence(batch.tables_before),
        output:
            *results_of(batch),
        log:
            f"{SCALE}/logs/results/{batch.name}.log",
        localrule: True
        conda:
            ENVIRONMENT
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            definitions=sentence(batch.definitions),
            code=sentence(batch.code),
            arguments=sentence(batch.arguments),
            # Naming `output` keeps a parameter out of what runs a job again: a moved folder is none.
            folders=lambda wildcards, output: ["--results", RESULTS, "--out", SCALE],
        shell:
            "exec python -m workflow.scripts results {params.arguments:q}"
            " --measures {input.measures:q} --runs {input.runs:q} {params.folders:q}"
            " > {log:q} 2>&1"


rule report:
    input:
        lambda wildcards: TARGETS.selected,
        page=page_files("report"),
    output:
        page=f"{SCALE}/report.html",
        checksum=f"{SCALE}/report.json",
    log:
        f"{SCALE}/logs/report.log",
    localrule: True
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
        own=canonical(PLAN.own_tables),
        explorer=lambda wildcards: [Path(page).name for page in INPUTS.explorer(wildcards)],
        code=INPUTS.code("report"),
    shell:
        "exec python -m workflow.scripts report --scale {params.scale:q} --runs {params.runs:q}"
        " --tables {params.tables:q} --figures {params.figures:q} --claims {params.claims:q}"
        " --mechanisms {params.mechanisms:q} --own {params.own:q} --plan {params.plan:q}"
        " --explorer {params.explorer:q} --out {output.page:q}"
        " > {log:q} 2>&1"


rule explore:
    input:
        unpack(sentence(INPUTS.of_explore)),
        page=page_files("explorer"),
    output:
        page=report(
            f"{SCALE}/explorer.html",
            caption="../report/captions/explorer.rst",
            category="Explorer",
            labels={"scale": PLAN.scale},
        ),
        checksum=f"{SCALE}/explorer.json",
    log:
        f"{SCALE}/logs/explore.log",
    localrule: True
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
        "exec python -m workflow.scripts explore --scale {params.scale:q} --runs {params.runs:q}"
        " --measures {params.measures:q} --data {params.data:q} --out {output.page:q} > {log:q} 2>&1"
