! Checks a gradient in Fortran: the function and its gradient take an array of doubles.
!
!     call gradcheck(energy, gradient, x, passed, report, gradcheck_options(evaluations=100))
!     gfortran tapegrad_gradcheck.f90 mine.f90 -ltapegrad -lm
module tapegrad_gradcheck
    use, intrinsic :: iso_c_binding
    implicit none
    private; public :: gradcheck, gradcheck_options
    abstract interface
        real(c_double) function scalar_function(x)
            import :: c_double
            real(c_double), intent(in) :: x(:)
        end function
        subroutine gradient_function(x, g)
            import :: c_double
            real(c_double), intent(in) :: x(:)
            real(c_double), intent(out) :: g(:)
        end subroutine
    end interface

    ! tg_gradcheck_options, tg_gradcheck_input, tg_black_box and tg_gradcheck_result of autograd/gradcheck.h
    type, bind(c) :: gradcheck_options
        integer(c_int) :: order = 1
        integer(c_int64_t) :: seed = 0, elements = 0
        integer(c_int) :: directions = 0
        real(c_double) :: rtol = 0, atol = 0, value_rtol = 0, value_atol = 0
        integer(c_int64_t) :: evaluations = 0
        real(c_double) :: largest_step = 0
        logical(c_bool) :: here_only = .false.
        type(c_funptr) :: project = c_null_funptr, progress = c_null_funptr
        type(c_ptr) :: user = c_null_ptr
        logical(c_bool) :: double_only = .false.
        type(c_ptr) :: report = c_null_ptr
        integer(c_size_t) :: report_size = 0
    end type
    type, bind(c) :: input_c
        type(c_ptr) :: name = c_null_ptr
        integer(c_int) :: rank = 1; integer(c_int64_t) :: dim(8) = 0
        type(c_ptr) :: data = c_null_ptr, integers = c_null_ptr, parameter = c_null_ptr
        logical(c_bool) :: fixed = .false.
        real(c_double) :: low = 0, high = 0
    end type
    type, bind(c) :: box_c
        type(c_ptr) :: name = c_null_ptr
        integer(c_int) :: kind = 0
        type(c_ptr) :: outputs = c_null_ptr; integer(c_int) :: output_count = 0
        type(c_funptr) :: value = c_null_funptr, vjp = c_null_funptr, jvp = c_null_funptr, jacobian = c_null_funptr
        type(c_ptr) :: user = c_null_ptr, value_rtol = c_null_ptr, value_atol = c_null_ptr
    end type
    type, bind(c) :: result_c
        logical(c_bool) :: passed
        integer(c_int) :: status, order, sample, input
        integer(c_int64_t) :: index
        real(c_double) :: numbers(5)
        integer(c_int) :: samples, skipped
        integer(c_int64_t) :: counts(7)
        logical(c_bool) :: ended
        real(c_double) :: hidden; character(c_char) :: where(128), why(1024)
    end type
    interface
        type(result_c) function check_c(box, inputs, count, options) bind(c, name="tg_gradcheck_function")
            import :: box_c, input_c, c_int, gradcheck_options, result_c
            type(box_c), intent(in) :: box
            type(input_c), intent(in) :: inputs
            integer(c_int), value :: count
            type(gradcheck_options), intent(in) :: options
        end function
    end interface
    type :: functions
        procedure(scalar_function), pointer, nopass :: f
        procedure(gradient_function), pointer, nopass :: g
        integer :: n
    end type
contains
    ! `report` is the sentence, or what is wrong at length.
    subroutine gradcheck(f, g, x, passed, report, options)
        procedure(scalar_function) :: f
        procedure(gradient_function) :: g
        real(c_double), intent(in), target, contiguous :: x(:)
        logical, intent(out) :: passed
        character(*), intent(out) :: report
        type(gradcheck_options), intent(in), optional :: options
        character(c_char), target :: text(16384)
        type(functions), target :: both
        type(gradcheck_options) :: how
        type(input_c) :: in
        type(result_c) :: r
        text = c_null_char
        if (present(options)) how = options
        how%report = c_loc(text); how%report_size = size(text)
        both%f => f; both%g => g; both%n = size(x)
        in%dim(1) = size(x); in%data = c_loc(x)
        r = check_c(box_c(value=c_funloc(value_c), vjp=c_funloc(vjp_c), user=c_loc(both)), in, 1_c_int, how)
        passed = logical(r%passed)
        if (text(1) == c_null_char) text(:size(r%why)) = r%why
        report = transfer(text, report)
        report = report(:index(report // c_null_char, c_null_char) - 1)
    end subroutine
    logical(c_bool) function value_c(in, out, user) bind(c)
        type(c_ptr), intent(in) :: in(*), out(*)
        type(c_ptr), value :: user
        type(functions), pointer :: both
        real(c_double), pointer :: x(:), y
        call c_f_pointer(user, both); call c_f_pointer(in(1), x, [both%n]); call c_f_pointer(out(1), y)
        y = both%f(x)
        value_c = .true.
    end function
    logical(c_bool) function vjp_c(in, cotangents, gradients, user) bind(c)
        type(c_ptr), intent(in) :: in(*), cotangents(*), gradients(*)
        type(c_ptr), value :: user
        type(functions), pointer :: both
        real(c_double), pointer :: x(:), g(:), v
        call c_f_pointer(user, both); call c_f_pointer(in(1), x, [both%n])
        call c_f_pointer(cotangents(1), v); call c_f_pointer(gradients(1), g, [both%n]); call both%g(x, g)
        g = v * g
        vjp_c = .true.
    end function
end module
