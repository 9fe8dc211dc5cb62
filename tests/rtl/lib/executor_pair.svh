// SPDX-License-Identifier: Apache-2.0
// The two instances that executor_host (`host`) drives, of the module that the macro EXECUTOR names. This is an include
// file because a parameter cannot name a module.
  for (genvar d = 0; d < 2; d++) begin : g_dut
    `EXECUTOR dut (
        .clk_i(host.clk),
        .rst_i(host.rst),
        .start_valid_i(host.start_valid && host.sel == d),
        .start_ready_o(host.a_start_ready[d]),
        .start_i(host.cmd),
        .status_o(host.a_status[d]),
        .stop_req_i(host.stop_req && host.sel == d),
        .stop_gran_i(host.stop_gran),
        .save_valid_o(host.a_save_valid[d]),
        .save_ready_i(host.save_ready && host.sel == d),
        .save_o(host.a_save[d]),
        .restore_valid_i(host.restore_valid && host.sel == d),
        .restore_ready_o(host.a_restore_ready[d]),
        .restore_i({1'b1, host.state}),
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
