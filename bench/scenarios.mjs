// What is measured. `kind` says which file of kinds/ runs it; `rps` is per client (32 clients) at the fixed load.

const MANY = 10_000

// A spread over the whole list, so that neither the first nor the last routes are favoured.
const manyPaths = Array.from({ length: 100 }, (_, i) => `/r${i * 100 + 37}/x`)

/**
 * @typedef {{ name: string, title: string, kind: 'load' | 'idle' | 'slow' | 'start', protocol?: 'http' | 'https' | 'h2c',
 *   paths?: string[], body?: number, secured?: boolean, rps?: number, crowd?: number, bar?: Bar,
 *   variants?: { peer: string, label: string, routes: number }[] }} Scenario
 * @typedef {{ ratio?: number, readyMs?: number, residentMb?: number, of?: string, to?: string }} Bar
 *   what Portico (or the row `of`) is held to, against nginx (or the row `to`)
 */

/** @type {Scenario[]} */
export const scenarios = [
  { name: 'get', title: 'plain GET 53 B', kind: 'load', rps: 250, bar: { ratio: 1.6 } },
  { name: 'post', title: 'POST 1 KiB', kind: 'load', rps: 250, body: 1024 },
  { name: '64k', title: '64 KiB reply', kind: 'load', rps: 64, paths: ['/64k.bin'] },
  { name: '1m', title: '1 MiB reply', kind: 'load', rps: 4, paths: ['/1m.bin'] },
  { name: 'tls', title: 'TLS 1.3, HTTP/1.1', kind: 'load', protocol: 'https', rps: 125, bar: { ratio: 1.9 } },
  { name: 'h2c', title: 'h2c in, HTTP/1.1 out', kind: 'load', protocol: 'h2c', rps: 125, bar: { ratio: 4.5 } },
  {
    name: 'policies',
    title: 'JWT, CEL rule, local limit',
    kind: 'load',
    rps: 250,
    // nginx passes the same requests on without a look at the token.
    secured: true,
    variants: [
      { peer: 'nginx', label: 'nginx', routes: 1 },
      { peer: 'portico', label: 'portico', routes: 1 },
    ],
    bar: { ratio: 2 },
  },
  {
    name: 'routes',
    title: '10,000 routes',
    kind: 'load',
    rps: 250,
    paths: manyPaths,
    variants: [
      { peer: 'nginx', label: 'nginx, 10,000', routes: MANY },
      { peer: 'portico', label: 'portico, 1', routes: 1 },
      { peer: 'portico', label: 'portico, 10,000', routes: MANY },
    ],
    bar: { ratio: 1.1, of: 'portico, 10,000', to: 'portico, 1' },
  },
  { name: 'idle1000', title: 'GET beside 1,000 idle', kind: 'idle', rps: 250, crowd: 1000 },
  { name: 'idle5000', title: 'GET beside 5,000 idle', kind: 'idle', rps: 250, crowd: 5000 },
  { name: 'slow', title: 'GET beside 64 slow readers of 16 MiB', kind: 'slow', rps: 30, crowd: 64 },
  { name: 'start', title: 'start, one worker, idle', kind: 'start', bar: { readyMs: 500, residentMb: 110 } },
]
