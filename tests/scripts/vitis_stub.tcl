# SPDX-License-Identifier: Apache-2.0
# Commands of Vivado that scripts/vitis/package_kernel.tcl uses, without Vivado: each checks what it is given as far as
# that can be known here, and says what it did in a line of output. Any other command is an error.
#
# usage: tclsh vitis_stub.tcl SCRIPT ARGUMENT...
#
# An object is a text KIND:NAME. Properties that an object may have are those below: what UG835, UG1118 and UG1393 name.
array set properties {
    files     {file_type}
    fileset   {top generic}
    core      {sdx_kernel sdx_kernel_type ipi_drc vitis_drc}
    parameter {value}
    bus       {slave_memory_map_ref}
    map       {}
    block     {range range_dependency width}
    register  {description address_offset size}
}
array set made {}

proc say {args} { puts [join $args \t] }

proc wants {kind object} {
    global made
    if {![string match $kind:* $object] || ![info exists made($object)]} {
        error "'$object' is no $kind that there is"
    }
}

proc make {kind name} {
    set ::made($kind:$name) 1
    return $kind:$name
}

# The value behind an option; the options that were given must all be known. Those of flags have no value.
proc options {arguments known flags} {
    set found [dict create]
    for {set i 0} {$i < [llength $arguments]} {incr i} {
        set a [lindex $arguments $i]
        if {$a in $flags} {
            dict set found $a 1
        } elseif {$a in $known} {
            incr i
            if {$i >= [llength $arguments]} { error "$a has no value" }
            dict set found $a [lindex $arguments $i]
        } elseif {[string match -* $a]} {
            error "unknown option $a"
        } else {
            dict lappend found positional $a
        }
    }
    return $found
}

proc create_project {args} {
    set o [options $args {-part} {-force}]
    if {![dict exists $o -part]} { error "create_project without -part" }
    say project [dict get $o -part]
}
proc close_project {} { say close }
proc add_files {args} {
    set o [options $args {} {-norecurse}]
    foreach f [lindex [dict get $o positional] 0] {
        if {![file isfile $f]} { error "no such file: $f" }
        say file $f
    }
}
proc get_files {pattern} { return [make files $pattern] }
proc current_fileset {} { return [make fileset sources_1] }
proc update_compile_order {args} { options $args {-fileset} {} }
proc set_property {name value object} {
    global properties
    set kind [lindex [split $object :] 0]
    wants $kind $object
    if {$name ni $properties($kind)} { error "a $kind has no property $name" }
    say set $object $name $value
}

namespace eval ipx {
    proc package_project {args} {
        set o [::options $args {-root_dir -vendor -library -taxonomy -set_current} {-import_files}]
        ::make core kernel
        ::say ip [dict get $o -root_dir]
    }
    proc current_core {} { ::wants core core:kernel; return core:kernel }
    proc of {kind name arguments} {
        ::wants [lindex [split [dict get [::options $arguments {-of_objects} {}] -of_objects] :] 0] \
            [dict get [::options $arguments {-of_objects} {}] -of_objects]
        ::wants $kind $kind:$name
        return $kind:$name
    }
    proc get_user_parameters {name args} { ::make parameter user.$name; of parameter user.$name $args }
    proc get_hdl_parameters {name args} { ::make parameter hdl.$name; of parameter hdl.$name $args }
    proc infer_bus_interface {ports type core} {
        ::wants core $core
        if {![regexp {^xilinx\.com:signal:(clock|reset|interrupt)_rtl:1\.0$} $type]} {
            error "unknown type of a bus: $type"
        }
        ::make bus $ports
        ::say bus $ports $type
    }
    proc associate_bus_interfaces {args} {
        set o [::options $args {-busif -clock -reset} {}]
        ::wants core [lindex [dict get $o positional] 0]
        ::wants bus bus:[dict get $o -clock]
        if {[dict exists $o -reset]} {
            ::wants bus bus:[dict get $o -reset]
            ::say reset [dict get $o -reset] [dict get $o -clock]
        } else { # AXI interfaces are found by the names of their ports when the project is packaged
            ::make bus [dict get $o -busif]
            ::say clocked [dict get $o -busif] [dict get $o -clock]
        }
    }
    proc get_bus_interfaces {name args} { of bus $name $args }
    proc add_bus_parameter {name bus} { ::wants bus $bus; ::make parameter $bus.$name }
    proc add_memory_map {name core} { ::wants core $core; ::make map $name }
    proc get_memory_maps {name args} { of map $name $args }
    proc add_address_block {name map} { ::wants map $map; ::make block $name }
    proc add_register {name block} { ::wants block $block; ::make register $name }
    proc add_register_parameter {name register} { ::wants register $register; ::make parameter $register.$name }
    proc get_register_parameters {name args} {
        set register [dict get [::options $args {-of_objects} {}] -of_objects]
        of parameter $register.$name $args
    }
    proc create_xgui_files {core} { ::wants core $core }
    proc update_checksums {core} { ::wants core $core }
    proc check_integrity {args} { ::wants core [lindex [dict get [::options $args {} {-kernel -xrt}] positional] 0] }
    proc save_core {core} { ::wants core $core; ::say saved }
}

proc package_xo {args} {
    set o [options $args {-xo_path -kernel_name -ctrl_protocol -ip_directory} {-force}]
    say xo [dict get $o -xo_path] [dict get $o -kernel_name] [dict get $o -ctrl_protocol] [dict get $o -ip_directory]
}

set script [lindex $argv 0]
set argv [lrange $argv 1 end]
set argc [llength $argv]
source $script
