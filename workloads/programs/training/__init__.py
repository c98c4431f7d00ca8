"""A small transformer trained for real, on a laptop and on many TPU slices by the same command: `python -m training --config tiny`.

A starting point to be kept: put your model in `model.py` and your data in `data.py`; the rest is what a job on slices needs.

    __main__        what runs, in order                  needs           wanted versions, checked before anything is imported
    options         flags and named configurations       place           what the pod is told about itself
    join            jax.distributed                      mesh            devices of slices, what is split over which axis
    data, model     the batch of a step, the loss of it  training_step   state, optimizer, one compiled step
    checkpoints     orbax: save, restore, fall back      stored          one stored state: written, read back, proven unharmed
    loop            the steps                            progress        metrics as lines of JSON, goodput
    stopping        SIGTERM: all stop at the same step   failure         exit codes
"""
