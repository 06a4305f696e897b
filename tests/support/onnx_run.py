"""Checks each NAME.onnx of a folder, runs it on the rows of NAME.x and compares with NAME.y: float, or i32 rows.

    python3 onnx_run.py FOLDER BOUND      a difference may be BOUND (1 + |expected|)
"""
import pathlib
import sys

import numpy
import onnx
import onnxruntime

folder, bound = pathlib.Path(sys.argv[1]), float(sys.argv[2])
failed, largest, paths = 0, 0.0, sorted(folder.glob("*.onnx"))
for path in paths:
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(path), options)
        argument = session.get_inputs()[0]
        kind = numpy.int32 if "int32" in argument.type else numpy.float32
        expected = numpy.fromfile(path.with_suffix(".y"), numpy.float32)
        any_rows = isinstance(argument.shape[0], str)  # a name in place of a number
        rows = numpy.fromfile(path.with_suffix(".x"), kind).reshape([-1, 1 if any_rows else argument.shape[0], *argument.shape[1:]])
        with numpy.errstate(all="ignore"):
            found = numpy.concatenate([session.run(None, {"x": row})[0].ravel() for row in rows])
            if any_rows:  # all at once, with others between them
                more = [other for row in rows for other in (row, numpy.roll(row, 1, axis=-1), row * 0)]
                single = numpy.concatenate([session.run(None, {"x": row})[0] for row in more])
                together = session.run(None, {"x": numpy.concatenate(more)})[0]
                assert numpy.allclose(together, single, rtol=1e-4, atol=1e-5, equal_nan=True), "other rows change a row"
            off = numpy.abs(found.astype(float) - expected.astype(float)) / (1 + numpy.abs(expected.astype(float)))
            off[(found == expected) | (numpy.isnan(found) & numpy.isnan(expected))] = 0
            off[numpy.isnan(off)] = numpy.inf
        assert found.shape == expected.shape, f"{found.shape} numbers and not {expected.shape}"
        worst = int(off.argmax())
        largest = max(largest, off[worst])
        assert off[worst] <= bound, f"number {worst} is {found[worst]!r} and not {expected[worst]!r}"
    except Exception as problem:
        print(f"{path.stem}: {str(problem)[:300]}")
        failed += 1
print(f"{len(paths)} models, {failed} failed, largest difference {largest:.2g}")
sys.exit(failed > 0 or not paths)
