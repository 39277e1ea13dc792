import { rollup as geofix } from 'geofix/bundler'

export default {
  base: './',
  plugins: [geofix()],
  // The databases stay files of their own.
  build: { target: 'es2022', assetsInlineLimit: 0 },
  worker: { format: 'es' },
  // Threads share memory on pages that are cross-origin isolated only. Send these headers in production too.
  server: {
    headers: {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    },
  },
}
