// SPDX-License-Identifier: Apache-2.0
// A block memory of an ECP5 with 2048 words of 9 bits, in the mode that scripts/ecp5 uses: two ports, no output
// register, read before write on the same port. Other settings end the simulation.
module DP16KD (
    input  logic DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
                 DIA2, DIA1, DIA0,
    input  logic ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input  logic CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output logic DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3,
                 DOA2, DOA1, DOA0,
    input  logic DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3,
                 DIB2, DIB1, DIB0,
    input  logic ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input  logic CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output logic DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
                 DOB2, DOB1, DOB0
);
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18;
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL";
  parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "ENABLED";
  parameter logic [319:0] INITVAL_00 = '0, INITVAL_01 = '0, INITVAL_02 = '0, INITVAL_03 = '0, INITVAL_04 = '0,
      INITVAL_05 = '0, INITVAL_06 = '0, INITVAL_07 = '0, INITVAL_08 = '0, INITVAL_09 = '0, INITVAL_0A = '0, INITVAL_0B
      = '0, INITVAL_0C = '0, INITVAL_0D = '0, INITVAL_0E = '0, INITVAL_0F = '0, INITVAL_10 = '0, INITVAL_11 = '0,
      INITVAL_12 = '0, INITVAL_13 = '0, INITVAL_14 = '0, INITVAL_15 = '0, INITVAL_16 = '0, INITVAL_17 = '0, INITVAL_18
      = '0, INITVAL_19 = '0, INITVAL_1A = '0, INITVAL_1B = '0, INITVAL_1C = '0, INITVAL_1D = '0, INITVAL_1E = '0,
      INITVAL_1F = '0, INITVAL_20 = '0, INITVAL_21 = '0, INITVAL_22 = '0, INITVAL_23 = '0, INITVAL_24 = '0, INITVAL_25
      = '0, INITVAL_26 = '0, INITVAL_27 = '0, INITVAL_28 = '0, INITVAL_29 = '0, INITVAL_2A = '0, INITVAL_2B = '0,
      INITVAL_2C = '0, INITVAL_2D = '0, INITVAL_2E = '0, INITVAL_2F = '0, INITVAL_30 = '0, INITVAL_31 = '0, INITVAL_32
      = '0, INITVAL_33 = '0, INITVAL_34 = '0, INITVAL_35 = '0, INITVAL_36 = '0, INITVAL_37 = '0, INITVAL_38 = '0,
      INITVAL_39 = '0, INITVAL_3A = '0, INITVAL_3B = '0, INITVAL_3C = '0, INITVAL_3D = '0, INITVAL_3E = '0, INITVAL_3F
      = '0;

  logic [8:0] mem[0:2047], out_a, out_b;
  logic [10:0] at_a, at_b;
  initial begin
    for (int i = 0; i < 2048; i++) mem[i] = 9'($urandom);  // contents are undefined at the start
    if (DATA_WIDTH_A != 9 || DATA_WIDTH_B != 9 || REGMODE_A != "NOREG" || REGMODE_B != "NOREG" ||
        CSDECODE_A != "0b000" || CSDECODE_B != "0b000") $fatal(1, "DP16KD: settings that this model does not know");
  end
  assign at_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3};
  assign {DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = out_a;
  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9} = '0;
  always @(posedge CLKA)
    if (CEA && {CSA2, CSA1, CSA0} == '0) begin
      out_a <= mem[at_a];
      if (WEA) mem[at_a] <= {DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    end
  assign at_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3};
  assign {DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = out_b;
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9} = '0;
  always @(posedge CLKB)
    if (CEB && {CSB2, CSB1, CSB0} == '0) begin
      out_b <= mem[at_b];
      if (WEB) mem[at_b] <= {DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    end
endmodule
