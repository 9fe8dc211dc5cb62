#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Images and samplers as arguments of tern run, on the functional model: what kernels read of them, what is saved, and
every wrong form."""
import struct
import unittest

from cli import Case


class Images(Case):
    def test_images(self):
        self.file("i.cl", "kernel void i(read_only image2d_t a, sampler_t s, write_only image2d_t b, global float *y) {"
                          " int2 at = (int2)(get_global_id(0), get_global_id(1));"
                          " write_imagef(b, at, read_imagef(a, s, convert_float2(at) + 0.5f).wzyx);"
                          " if (at.x + at.y == 0) y[0] = read_imagef(a, s, (float2)(1.0f)).x; }")
        pixels = bytes(range(0, 4 * 15))
        self.file("in.rgba", pixels)
        image = "image:5x3:RGBA:UNORM_INT8"
        self.assertEqual(self.works("run", "i.cl", "--list"),
                         "i(read_only image2d_t a, sampler_t s, write_only image2d_t b, global float *y)\n")
        run = ["run", "i.cl", "--global", "5,3"]
        printed = self.works(*run, "--save", "b=out.abgr", image + ":@in.rgba", "sampler:linear,clamp",
                             "image:5x3:abgr:unorm_int8", "zeros:1")
        self.assertEqual(printed, "y: float[1] = %s\n" % printed.split()[-1])
        self.assertAlmostEqual(float(printed.split()[-1]) * 255, (0 + 4 + 20 + 24) / 4, places=3)
        self.assertEqual((self.folder / "out.abgr").read_bytes(), pixels)  # The channels are reversed twice.
        floats = image.replace("UNORM_INT8", "FLOAT")
        saved = []
        for seed in 1, 2, 1:
            self.works(*run, "--quiet", "--save", "b=random", f"{floats}:random:{seed}", "sampler:nearest", floats,
                       "zeros:1")
            saved.append(struct.unpack("<60f", (self.folder / "random").read_bytes()))
        self.assertTrue(all(0 <= v < 1 for v in saved[0]))
        self.assertEqual(saved[0], saved[2])
        self.assertNotEqual(saved[0], saved[1])
        good = [image, "sampler:nearest", image, "zeros:1"]
        for i, text, message in ((0, "zeros:4", "argument 1 'a' is image2d_t; got 'zeros:4', expected image:WxH:ORDER"),
                                 (0, "image:5:RGBA:UNORM_INT8", "expected image:WxH:ORDER:TYPE[:CONTENTS]"),
                                 (0, "image:5x3x2:RGBA:UNORM_INT8", "expected image:WxH:ORDER:TYPE[:CONTENTS]"),
                                 (0, "image:5x3:RGBQ:UNORM_INT8", "one of the orders R, A, RG"),
                                 (0, "image:5x3:RGBA", "one of the types SNORM_INT8"),
                                 (0, image + ":iota", "got 'iota', expected zeros, random[:SEED] or @FILE"),
                                 (0, image + ":random:x", "random or random:SEED, with a whole number"),
                                 (0, "image:5x4:RGBA:UNORM_INT8:@in.rgba",
                                  "'in.rgba' has 60 bytes, and the image holds 80"),
                                 (1, "linear", "argument 2 's' is sampler_t; got 'linear', expected sampler:WORDS"),
                                 (1, "sampler:linear,soft", "expected sampler:WORDS"),
                                 (3, image, "argument 4 'y' is float*; got 'image:5x3:RGBA:UNORM_INT8'")):
            self.fails(2, message, *run, *good[:i], text, *good[i + 1:])
        self.fails(2, "--print: argument 3 'b' is an image; --save b=FILE writes its pixels", *run, "--print", "b",
                   *good)
        self.fails(1, "an image cannot have the format CL_RGB of CL_UNORM_INT8", *run, "image:5x3:RGB:UNORM_INT8",
                   *good[1:])
        self.fails(1, "a: OpenCL error -40, CL_INVALID_IMAGE_SIZE", *run, "image:1000000x3:RGBA:UNORM_INT8", *good[1:])

    def test_types(self):
        self.file("all.cl", "kernel void all(image1d_t a, image1d_array_t b, image1d_buffer_t c, image2d_array_t d,"
                            "image3d_t e, global uint *y) { y[0] = get_image_width(a); y[1] = get_image_array_size(b);"
                            "y[2] = get_image_width(c); y[3] = get_image_array_size(d); y[4] = get_image_depth(e);"
                            "y[5] = read_imageui(c, 1).x; }")
        self.file("c.bin", bytes([7, 9, 11, 13, 15, 17, 19]))
        r = "R:UNSIGNED_INT8"
        self.assertEqual(self.works("run", "all.cl", "--global", 1, f"image:3:{r}", f"image:3x4:{r}",
                                    f"image:7:{r}:@c.bin", f"image:2x3x5:{r}", f"image:2x3x6:{r}", "zeros:6"),
                         "y: uint[6] = 3 4 7 5 6 9\n")


if __name__ == "__main__":
    unittest.main()
