// A chain of springs with a right gradient: rustc spring.rs -L FOLDER -l tapegrad
use std::ffi::{c_char, c_int, c_void, CStr};

type Function = extern "C" fn(*const *const f64, *const *mut f64, *mut c_void) -> bool;
type Vjp = extern "C" fn(*const *const f64, *const *const f64, *const *mut f64, *mut c_void) -> bool;

// tg_shape, tg_gradcheck_input, tg_black_box and tg_gradcheck_result of autograd/gradcheck.h
#[repr(C)]
struct Shape { rank: c_int, dim: [i64; 8] }
#[repr(C)]
struct Input { name: *const c_char, shape: Shape, data: *const f64, integers: *const i32, parameter: *const c_void, fixed: bool, low: f64, high: f64 }
#[repr(C)]
struct Box_ { name: *const c_char, kind: c_int, outputs: *const Shape, output_count: c_int, value: Function, vjp: Vjp, jvp: *const c_void, jacobian: *const c_void, user: *mut c_void, value_rtol: *const f64, value_atol: *const f64 }
#[repr(C)]
struct Result_ { passed: bool, status: c_int, order: c_int, sample: c_int, input: c_int, index: i64, numbers: [f64; 5], samples: c_int, skipped: c_int, counts: [i64; 7], ended: bool, hidden: f64, place: [c_char; 128], why: [c_char; 1024] }
extern "C" { fn tg_gradcheck_function(of: *const Box_, inputs: *const Input, count: c_int, options: *const c_void) -> Result_; }

const N: usize = 4;

extern "C" fn energy(inputs: *const *const f64, out: *const *mut f64, _: *mut c_void) -> bool {
    let x = unsafe { std::slice::from_raw_parts(*inputs, N) };
    unsafe { **out = x.windows(2).map(|w| (w[1] - w[0]).powi(2) / 2.0).sum() };
    true
}
extern "C" fn vjp(inputs: *const *const f64, cotangents: *const *const f64, gradients: *const *mut f64, _: *mut c_void) -> bool {
    let (x, v) = unsafe { (std::slice::from_raw_parts(*inputs, N), **cotangents) };
    let g = unsafe { std::slice::from_raw_parts_mut(*gradients, N) };
    g.fill(0.0);
    for i in 0..N - 1 {
        g[i + 1] += v * (x[i + 1] - x[i]);
        g[i] -= v * (x[i + 1] - x[i]);
    }
    true
}
fn main() {
    let x = [0.0, 1.2, 1.9, 3.5];
    let null = std::ptr::null();
    let of = Box_ { name: null as *const c_char, kind: 0, outputs: null as *const Shape, output_count: 0, value: energy, vjp, jvp: null, jacobian: null, user: std::ptr::null_mut(), value_rtol: std::ptr::null(), value_atol: std::ptr::null() };
    let input = Input { name: null as *const c_char, shape: Shape { rank: 1, dim: [N as i64, 0, 0, 0, 0, 0, 0, 0] }, data: x.as_ptr(), integers: null as *const i32, parameter: null, fixed: false, low: 0.0, high: 0.0 };
    let result = unsafe { tg_gradcheck_function(&of, &input, 1, null) };
    println!("{} {}", if result.passed { "T" } else { "F" }, unsafe { CStr::from_ptr(result.why.as_ptr()) }.to_str().unwrap());
}
