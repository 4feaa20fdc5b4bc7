# All evaluators of a run in one job; each is cached in the store by the hash of its own code.


rule measure:
    input:
        spec=f"{RUN}/spec.json",
        weights=f"{RUN}/weights.safetensors",
        history=f"{RUN}/history.jsonl",
        record=f"{RUN}/run.json",
        checkpoints=f"{RUN}/checkpoints",
        data=sentence(lambda wildcards: data_folder(run_of(wildcards))),
    output:
        f"{SCALE}/measures/{RUN_NAME}.json",
    log:
        f"{SCALE}/logs/measure/{RUN_NAME}.log",
    benchmark:
        f"{SCALE}/benchmarks/measure/{RUN_NAME}.tsv"
    conda:
        ENVIRONMENT
    threads: lambda wildcards: run_of(wildcards).settings["training"]["threads"]
    resources:
        mem_mb=1500,
        runtime="2h",
    params:
        store=lambda wildcards, output: f"{RESULTS}/store",
        folder=lambda wildcards, input: str(Path(input.weights).parent),
        evaluators=sentence(lambda wildcards: canonical(run_of(wildcards).evaluators(ROOT))),
        device=lambda wildcards, output: PLAN.config["device"],
    shell:
        "exec python -m workflow.scripts.measure --spec {input.spec:q} --run {params.folder:q}"
        " --data {input.data:q} --store {params.store:q} --evaluators {params.evaluators:q}"
        " --device {params.device:q} --out {output:q} > {log:q} 2>&1"
