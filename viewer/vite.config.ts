import { defineConfig } from "vite";

// Names without fingerprints and nothing that depends on the machine: the same sources give the same bytes, which `./check` compares.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../crates/view/bundle",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    chunkSizeWarningLimit: 1500,
    rollupOptions: {
      input: { viewer: "index.html" },
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: false,
        // Its licence asks for this; the text is beside it.
        postBanner: "/*! Contains three.js, MIT licence: LICENSE-three.txt */",
      },
    },
  },
});
