import { defineConfig } from "vite";
import { oneFile } from "./build.mjs";

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  plugins: [oneFile()],
});
