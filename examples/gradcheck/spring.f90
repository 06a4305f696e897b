! A chain of springs, once with the right gradient and once with a term missing.
module springs
    use, intrinsic :: iso_c_binding, only: dp => c_double
    implicit none
contains
    real(dp) function energy(x)
        real(dp), intent(in) :: x(:)
        energy = sum((x(2:) - x(:size(x) - 1))**2) / 2
    end function
    subroutine missing(x, g)
        real(dp), intent(in) :: x(:)
        real(dp), intent(out) :: g(:)
        g(1) = 0
        g(2:) = x(2:) - x(:size(x) - 1)
    end subroutine
    subroutine gradient(x, g)
        real(dp), intent(in) :: x(:)
        real(dp), intent(out) :: g(:)
        call missing(x, g)
        g(:size(x) - 1) = g(:size(x) - 1) - (x(2:) - x(:size(x) - 1))
    end subroutine
end module

program spring
    use tapegrad_gradcheck
    use springs
    implicit none
    real(dp) :: x(4) = [0.0_dp, 1.2_dp, 1.9_dp, 3.5_dp]
    character(4096) :: report
    logical :: passed
    call gradcheck(energy, gradient, x, passed, report)
    print "(l1, 1x, a)", passed, trim(report)
    call gradcheck(energy, missing, x, passed, report, gradcheck_options(evaluations=200))
    print "(l1, 1x, a)", passed, trim(report)
end program
