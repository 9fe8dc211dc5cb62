// SPDX-License-Identifier: Apache-2.0
// The two instances that executor_host (`host`) drives, of the module that the macro EXECUTOR names. This is an include
// file because a parameter cannot name a module.
  for (genvar d = 0; d < 2; d++) begin : g_dut
    `EXECUTOR dut (
        .clk_i(host.clk),
        .rst_i(host.rst),
        .start_valid_i(host.start_valid && host.sel == d),
        .start_ready_o(host.a_start_ready[d]),
        .start_packet_i(host.pkt),
        .start_resume_i(host.resume),
        .done_valid_o(host.a_done[d]),
        .fault_valid_o(host.a_fault[d]),
        .fault_code_o(host.a_code[d]),
        .fault_access_o(host.a_access[d]),
        .fault_va_o(host.a_va[d]),
        .stop_req_i(host.stop_req && host.sel == d),
        .stop_gran_i(host.stop_gran),
        .stopped_valid_o(host.a_stopped[d]),
        .save_valid_o(host.a_save_valid[d]),
        .save_ready_i(host.save_ready && host.sel == d),
        .save_data_o(host.a_save_data[d]),
        .save_last_o(host.a_save_last[d]),
        .restore_valid_i(host.restore_valid && host.sel == d),
        .restore_ready_o(host.a_restore_ready[d]),
        .restore_data_i(host.state),
        .restore_last_i(1'b1),
        .req_valid_o(host.a_req_valid[d]),
        .req_ready_i(host.req_ready && host.sel == d),
        .req_o(host.a_req[d]),
        .req_tag_o(host.a_tag[d]),
        .rsp_valid_i(host.rsp_valid && host.sel == d),
        .rsp_tag_i(host.rsp_tag),
        .rsp_i(host.rsp)
    );
  end
`undef EXECUTOR
