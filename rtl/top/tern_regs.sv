// SPDX-License-Identifier: Apache-2.0
// The device's registers (docs/spec/registers.yaml) behind an AXI4-Lite slave with an aperture of 16 KiB.
//
// The blocks `dev` and `dirty` are in this module. The block of an engine is in that engine, which drives reg_rdata_i
// in the second cycle of an address on reg_addr_o.
//
// Contract: the slave handles one access at a time. If a read and a write wait, they alternate. Every access is
// answered with OKAY within a few cycles. A write takes all four bytes. The answer comes when the effect of the write
// is visible, also on the interrupt line. irq_o is a level. The device time counts cycles since reset.
// Address and read data are registered, so the read multiplexer is on no combinational path of the bus.
// Preemption: no state of this module is saved.
module tern_regs #(
    parameter int ENGINES      = 2,          // Number of engines.
    parameter int LANES        = 16,         // Lanes of a warp; 0 if there is no SIMT executor.
    parameter int WARPS        = 16,         // Warps of an engine; 0 if there is no SIMT executor.
    parameter int LMEM_KIB     = 64,         // Local memory of an engine in KiB; 0 if there is no SIMT executor.
    parameter int USERS        = tern_spec_pkg::USER_EXECUTORS,  // User executors of an engine.
    parameter int SAVE_LINES   = 64,         // Lines of the largest context-save area.
    parameter int PAGE_LOG2    = 12,         // log2 of the bytes that one dirty bit covers.
    parameter int CLOCK_HZ     = 250000000,  // Nominal clock frequency in Hz.
    parameter int PORTS        = 1,          // Number of memory ports.
    parameter bit SINGLE_USE   = 1'b0,       // The device has one address space only (rule A2).
    parameter bit MEM_CLEAR    = 1'b0        // Memory reads zero after power-on.
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [          22:0] mem_pages_i,  // Device memory in pages of 4 KiB.
    // AXI4-Lite
    input  logic                  awvalid_i,
    output logic                  awready_o,
    input  logic [          13:0] awaddr_i,
    input  logic                  wvalid_i,
    output logic                  wready_o,
    input  logic [          31:0] wdata_i,
    output logic                  bvalid_o,
    input  logic                  bready_i,
    input  logic                  arvalid_i,
    output logic                  arready_o,
    input  logic [          13:0] araddr_i,
    output logic                  rvalid_o,
    input  logic                  rready_i,
    output logic [          31:0] rdata_o,
    // Register blocks of the engines, interrupt and device time.
    output logic [   ENGINES-1:0] reg_write_o,  // Pulse: a write to this engine's block.
    output logic [           9:0] reg_addr_o,   // Byte offset in the block.
    output logic [          31:0] reg_wdata_o,
    input  logic [32*ENGINES-1:0] reg_rdata_i,
    input  logic [   ENGINES-1:0] irq_i,
    output logic                  irq_o,
    output logic [          63:0] time_o,  // Cycles since reset.
    // Command to the dirty plane: dirty_valid_o is a pulse with the values of the registers dirty.*.
    output logic                  dirty_valid_o,
    output logic [           1:0] dirty_op_o,
    output logic [          31:0] dirty_first_o,
    output logic [          31:0] dirty_count_o,
    output logic [          63:0] dirty_target_o,
    input  logic                  dirty_busy_i,
    input  logic                  dirty_error_i,
    input  logic                  dirty_bus_error_i,
    input  logic [          31:0] dirty_found_i
);
  // In S_WAIT the blocks of the engines look up addr_q. Their answer is there in S_DO.
  localparam logic [1:0] S_IDLE = 2'd0, S_WAIT = 2'd1, S_DO = 2'd2, S_ANSWER = 2'd3;
  localparam logic [2:0] SETTLE = 3'd4;  // Cycles from a write to its effect on the interrupt line.
  localparam logic [31:0] VERSION = 32'h00000100;  // 0.1.0
  localparam logic [31:0] IDENTITY = 32'h5445524e; // "TERN"
  localparam logic [1:0] GRAN = tern_spec_pkg::REG_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;

  logic [1:0] state_q;
  logic [2:0] settle_q;
  logic write_q;
  logic [13:0] addr_q;
  logic [31:0] wdata_q, rdata_q, read;
  logic [63:0] time_q, target_q;
  logic [31:0] time_hi_q, first_q, count_q;
  logic [ENGINES-1:0] enable_q;
  logic [1:0] op_q;
  logic command_q, irq_q;
  logic is_engine;
  logic [2:0] engine_at;

  logic unused;
  assign unused = &{1'b0, awaddr_i[1:0], araddr_i[1:0]};

  assign is_engine = addr_q >= tern_spec_pkg::REG_ENGINE_BASE &&
      addr_q < tern_spec_pkg::REG_ENGINE_BASE + 14'(ENGINES * tern_spec_pkg::REG_ENGINE_STRIDE);
  assign engine_at = addr_q[12:10] - tern_spec_pkg::REG_ENGINE_BASE[12:10];
  assign reg_addr_o = addr_q[9:0];
  assign reg_wdata_o = wdata_q;
  assign dirty_valid_o = command_q;
  assign dirty_op_o = op_q;
  assign dirty_first_o = first_q;
  assign dirty_count_o = count_q;
  assign dirty_target_o = target_q;
  assign time_o = time_q;
  assign irq_o = irq_q;
  assign awready_o = state_q == S_IDLE && wvalid_i && awvalid_i && !(arvalid_i && write_q);
  assign wready_o = awready_o;
  assign arready_o = state_q == S_IDLE && arvalid_i && !(awvalid_i && wvalid_i && !write_q);
  assign bvalid_o = state_q == S_ANSWER && write_q && settle_q == '0;
  assign rvalid_o = state_q == S_ANSWER && !write_q;
  assign rdata_o = rdata_q;

  for (genvar e = 0; e < ENGINES; e++) begin : g_engine
    assign reg_write_o[e] = state_q == S_DO && write_q && is_engine && engine_at == e;
  end

  always_comb begin
    read = '0;
    if (is_engine) begin
      for (int e = 0; e < ENGINES; e++) if (engine_at == 3'(e)) read = reg_rdata_i[32*e+:32];
    end else
      case (addr_q)
        tern_spec_pkg::REG_DEV_ID: read = IDENTITY;
        tern_spec_pkg::REG_DEV_VERSION: read = VERSION;
        tern_spec_pkg::REG_DEV_SPEC_HASH: read = tern_spec_pkg::SPEC_HASH;
        tern_spec_pkg::REG_DEV_CONFIG0: begin
          read[tern_spec_pkg::REG_DEV_CONFIG0_LANES_LSB+:8] = 8'(LANES);
          read[tern_spec_pkg::REG_DEV_CONFIG0_WARPS_LSB+:8] = 8'(WARPS);
          read[tern_spec_pkg::REG_DEV_CONFIG0_ENGINES_LSB+:8] = 8'(ENGINES);
          read[tern_spec_pkg::REG_DEV_CONFIG0_LMEM_KIB_LSB+:8] = 8'(LMEM_KIB);
        end
        tern_spec_pkg::REG_DEV_CONFIG1: begin
          read[tern_spec_pkg::REG_DEV_CONFIG1_DIRTY_PAGE_LOG2_LSB+:8] = 8'(PAGE_LOG2);
          read[tern_spec_pkg::REG_DEV_CONFIG1_PA_BITS_LSB+:8] = 8'd34;
          read[tern_spec_pkg::REG_DEV_CONFIG1_SINGLE_USE_LSB] = SINGLE_USE;
          read[tern_spec_pkg::REG_DEV_CONFIG1_MEM_CLEAR_LSB] = MEM_CLEAR;
          read[tern_spec_pkg::REG_DEV_CONFIG1_PREEMPT_GRAN_LSB+:2] = GRAN;
          read[tern_spec_pkg::REG_DEV_CONFIG1_EXECUTORS_LSB+:5] = 5'(USERS);
          read[tern_spec_pkg::REG_DEV_CONFIG1_PAGE_REQUESTS_LSB] = 1'b1;
          read[tern_spec_pkg::REG_DEV_CONFIG1_PORTS_LSB+:3] = 3'(PORTS);
        end
        tern_spec_pkg::REG_DEV_CLOCK_HZ: read = 32'(CLOCK_HZ);
        tern_spec_pkg::REG_DEV_MEM_PAGES: read = {9'b0, mem_pages_i};
        tern_spec_pkg::REG_DEV_IRQ_STATUS: read[ENGINES-1:0] = irq_i;
        tern_spec_pkg::REG_DEV_IRQ_ENABLE: read[ENGINES-1:0] = enable_q;
        tern_spec_pkg::REG_DEV_SAVE_LINES: read = 32'(SAVE_LINES);
        tern_spec_pkg::REG_DEV_TIME_LO: read = time_q[31:0];
        tern_spec_pkg::REG_DEV_TIME_HI: read = time_hi_q;
        tern_spec_pkg::REG_DIRTY_FIRST: read = first_q;
        tern_spec_pkg::REG_DIRTY_COUNT: read = count_q;
        tern_spec_pkg::REG_DIRTY_STATUS: begin
          read[tern_spec_pkg::REG_DIRTY_STATUS_BUSY_LSB] = dirty_busy_i;
          read[tern_spec_pkg::REG_DIRTY_STATUS_ERROR_LSB] = dirty_error_i;
          read[tern_spec_pkg::REG_DIRTY_STATUS_BUS_ERROR_LSB] = dirty_bus_error_i;
        end
        tern_spec_pkg::REG_DIRTY_TARGET_LO: read = target_q[31:0];
        tern_spec_pkg::REG_DIRTY_TARGET_HI: read = target_q[63:32];
        tern_spec_pkg::REG_DIRTY_FOUND: read = dirty_found_i;
        default: ;
      endcase
  end

  always_ff @(posedge clk_i) begin
    time_q <= time_q + 1'b1;
    irq_q <= |(irq_i & enable_q);
    command_q <= 1'b0;
    case (state_q)
      S_IDLE:
      if (awready_o || arready_o) begin
        write_q <= awready_o;
        addr_q <= {awready_o ? awaddr_i[13:2] : araddr_i[13:2], 2'b0};
        wdata_q <= wdata_i;
        state_q <= S_WAIT;
      end
      S_WAIT: state_q <= S_DO;
      S_DO: begin
        state_q <= S_ANSWER;
        settle_q <= SETTLE;
        rdata_q <= read;
        if (!write_q && addr_q == tern_spec_pkg::REG_DEV_TIME_LO) time_hi_q <= time_q[63:32];
        if (write_q)
          case (addr_q)
            tern_spec_pkg::REG_DEV_IRQ_ENABLE: enable_q <= wdata_q[ENGINES-1:0];
            tern_spec_pkg::REG_DIRTY_FIRST: first_q <= wdata_q;
            tern_spec_pkg::REG_DIRTY_COUNT: count_q <= wdata_q;
            tern_spec_pkg::REG_DIRTY_TARGET_LO: target_q[31:0] <= wdata_q;
            tern_spec_pkg::REG_DIRTY_TARGET_HI: target_q[63:32] <= wdata_q;
            tern_spec_pkg::REG_DIRTY_COMMAND: begin
              command_q <= 1'b1;
              op_q <= wdata_q[tern_spec_pkg::REG_DIRTY_COMMAND_OP_LSB+:2];
            end
            default: ;
          endcase
      end
      default: begin
        if (settle_q != '0) settle_q <= settle_q - 1'b1;
        if (write_q ? bvalid_o && bready_i : rready_i) state_q <= S_IDLE;
      end
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      write_q <= 1'b0;
      time_q <= '0;
      time_hi_q <= '0;
      first_q <= '0;
      count_q <= '0;
      target_q <= '0;
      enable_q <= '0;
      command_q <= 1'b0;
      irq_q <= 1'b0;
    end
  end

  check_channel #(.WIDTH(1)) u_check_b (
      .clk_i,
      .rst_i,
      .valid_i(bvalid_o),
      .ready_i(bready_i),
      .data_i(1'b0)
  );
  check_channel #(.WIDTH(32)) u_check_r (
      .clk_i,
      .rst_i,
      .valid_i(rvalid_o),
      .ready_i(rready_i),
      .data_i(rdata_o)
  );
endmodule
