# What is kept of a run's checkpoints: how they rank the inputs. Their weights are dropped then.


rule record:
    input:
        data=compared(INPUTS.encoded, INPUTS.record, INPUTS.other_recorder),
        spec=f"{RUN}/spec.json",
        weights=f"{RUN}/weights.safetensors",
        run=f"{RUN}/run.json",
        checkpoints=f"{RUN}/checkpoints",
    output:
        record=f"{SCALE}/records/{RUN_NAME}.npz",
        checksum=f"{SCALE}/records/{RUN_NAME}.json",
    log:
        f"{SCALE}/logs/record/{RUN_NAME}.log",
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
        recorder=sentence(INPUTS.recorder),
    shell:
        "exec python -m workflow.scripts record --spec {input.spec:q} --run {params.folder:q}"
        ' --data {input.data:q} --store "$SACCADE_STORE" --recorder {params.recorder:q}'
        ' --device "$SACCADE_DEVICE" --out {output.record:q} > {log:q} 2>&1'


use rule record as record_locally with:
    wildcard_constraints:
        experiment=rf"(?={LOCAL})[a-z][a-z0-9_]*",
    localrule: True
