# All evaluators of a run in one job; each is cached in the store by the hash of its own code.


rule measure:
    input:
        unpack(compared(INPUTS.of_measure, INPUTS.measures, INPUTS.other_evaluators)),
        spec=f"{RUN}/spec.json",
        weights=f"{RUN}/weights.safetensors",
        history=f"{RUN}/history.jsonl",
        run=f"{RUN}/run.json",
        checkpoints=f"{RUN}/checkpoints",
    output:
        f"{SCALE}/measures/{RUN_NAME}.json",
    log:
        f"{SCALE}/logs/measure/{RUN_NAME}.log",
    wildcard_constraints:
        experiment=rf"(?!{LOCAL})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    threads: INPUTS.threads
    resources:
        mem_mb=resource("memory"),
        runtime=resource("runtime"),
        gpu=resource("gpu", most=1),
        nodes=1,
    params:
        folder=lambda wildcards, input: str(Path(input.weights).parent),
        further=sentence(INPUTS.further),
        evaluators=sentence(INPUTS.evaluators),
    shell:
        "exec python -m workflow.scripts measure --spec {input.spec:q} --run {params.folder:q}"
        ' --data {input.data:q} --store "$SACCADE_STORE" --evaluators {params.evaluators:q}'
        ' {params.further:q} --device "$SACCADE_DEVICE" --out {output:q} > {log:q} 2>&1'


use rule measure as measure_locally with:
    wildcard_constraints:
        experiment=rf"(?={LOCAL})[a-z][a-z0-9_]*",
    localrule: True
