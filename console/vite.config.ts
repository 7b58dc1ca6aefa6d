import { lingui } from '@lingui/vite-plugin'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const api = 'http://127.0.0.1:3000'

export default defineConfig({
  plugins: [
    react(),
    // The English messages stay in the script of their page, so that English needs no catalogue.
    lingui({ failOnCompileError: true, macroTransform: { macro: { descriptorFields: 'message' } } }),
  ],
  // The SDK as it is written, without a build of it in between.
  resolve: { conditions: ['atrium-source', 'module', 'browser', 'production'] },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    emptyOutDir: false,
    // Data URLs would need an exception of the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // By default, a page loads 80 scripts and styles, most of them below 3 KB, six at a time over HTTP/1.1.
    rolldownOptions: {
      output: {
        chunkFileNames: ({ name }) => `assets/${name.startsWith('shared') ? 'shared' : '[name]'}-[hash].js`,
        codeSplitting: {
          groups: [
            // What every page needs, apart from the libraries, which seldom change.
            { name: 'react', tags: ['$initial'], test: /node_modules\/(?:react|react-dom|scheduler)\//, priority: 4 },
            { name: 'libraries', tags: ['$initial'], test: /node_modules/, priority: 3 },
            { name: 'app', tags: ['$initial'], priority: 2 },
            // Components of most pages.
            {
              name: 'app',
              test: /console\/src\/(?:ui\/(?!.*(?:virtual|chart|json|code-block|secret|dialog|field|form|table|tabs|filter))|title|search-params)/,
              minShareCount: 4,
              priority: 1.8,
            },
            // Fields and dialogs, which Home does not have.
            {
              name: 'forms',
              test: /console\/src\/ui\/(?:dialog|forms\/(?:field|form|search|filter))|@base-ui\/react\/dialog/,
              priority: 1.9,
            },
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 1_000, priority: 1 },
          ],
        },
      },
    },
  },
  // `npm run dev -w console` beside a running server.
  server: { proxy: { '/api': { target: api, headers: { origin: api } } } },
})
