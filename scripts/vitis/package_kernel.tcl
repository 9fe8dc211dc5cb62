# SPDX-License-Identifier: Apache-2.0
# Packages tern_kernel as an IP of Vivado and that as an object of Vitis (.xo), with user-managed control.
#
# usage: vivado -mode batch -source package_kernel.tcl -tclargs PART FILE-LIST WORK-FOLDER OUT.xo BUSES [NAME=VALUE...]
#
# FILE-LIST: a file of RTL a line, in the order in which they are read. BUSES: the memory ports, each with the offset of
# a register that points into memory: m_axi_gmem0=0x108,m_axi_gmem1=... NAME=VALUE: parameters of tern_kernel. The steps
# and the names of their options are those of UG1393 and UG1700 (docs/card.md).
if {$argc < 5} {
    puts stderr "package_kernel.tcl: wants PART FILE-LIST WORK-FOLDER OUT.xo BUSES \[NAME=VALUE...\]"
    exit 2
}
lassign $argv part list work out buses
set parameters [lrange $argv 5 end]

set f [open $list]
set files [split [string trim [read $f]] \n]
close $f

create_project -force tern_kernel $work/project -part $part
add_files -norecurse $files
set_property file_type SystemVerilog [get_files *.sv]
set_property top tern_kernel [current_fileset]
set_property generic $parameters [current_fileset]
update_compile_order -fileset sources_1

ipx::package_project -root_dir $work/ip -vendor tern -library kernel -taxonomy /KernelIP -import_files -set_current true
set core [ipx::current_core]
foreach p $parameters { # The packaged kernel has these values wherever it is instantiated.
    lassign [split $p =] name value
    set_property value $value [ipx::get_user_parameters $name -of_objects $core]
    set_property value $value [ipx::get_hdl_parameters $name -of_objects $core]
}

# Each port belongs to an interface, and each interface to the one clock.
ipx::infer_bus_interface ap_clk xilinx.com:signal:clock_rtl:1.0 $core
ipx::infer_bus_interface ap_rst_n xilinx.com:signal:reset_rtl:1.0 $core
ipx::infer_bus_interface interrupt xilinx.com:signal:interrupt_rtl:1.0 $core
ipx::associate_bus_interfaces -busif s_axi_control -clock ap_clk $core
foreach bus [split $buses ,] {
    ipx::associate_bus_interfaces -busif [lindex [split $bus =] 0] -clock ap_clk $core
}
ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core
set sensitivity [ipx::add_bus_parameter SENSITIVITY [ipx::get_bus_interfaces interrupt -of_objects $core]]
set_property value LEVEL_HIGH $sensitivity

# v++ connects a memory port to memory by a register that points there: for the first port the register of the dirty
# plane's bitmap (docs/spec/registers.yaml: dirty.target_lo, target_hi), for others that of an engine's buffer.
ipx::add_memory_map s_axi_control $core
set_property slave_memory_map_ref s_axi_control [ipx::get_bus_interfaces s_axi_control -of_objects $core]
set map [ipx::get_memory_maps s_axi_control -of_objects $core]
set block [ipx::add_address_block reg0 $map]
set_property range 16384 $block
set_property range_dependency {} $block
set_property width 32 $block
foreach bus [split $buses ,] {
    lassign [split $bus =] name offset
    set pointer [ipx::add_register ${name}_pointer $block]
    set_property description "Points into the memory behind $name" $pointer
    set_property address_offset $offset $pointer
    set_property size 64 $pointer
    set_property value $name [ipx::add_register_parameter ASSOCIATED_BUSIF $pointer]
}

set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property ipi_drc {ignore_freq_hz true} $core
set_property vitis_drc {ctrl_protocol user_managed} $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel -xrt $core
ipx::save_core $core
close_project

package_xo -force -xo_path $out -kernel_name tern_kernel -ctrl_protocol user_managed -ip_directory $work/ip
