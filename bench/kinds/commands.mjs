// Measures commands of porticoctl from start to report: the tests of a config, and a back-test.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordsOf, wholeConfig } from '../../packages/gateway/src/backtest/testing/recorded.ts'
import { projectNode } from '../machine.mjs'

const PROGRAM = join(import.meta.dirname, '../../packages/ctl/bin/porticoctl.mjs')
const BUILD = join(import.meta.dirname, '../../packages/ctl/dist/porticoctl.js')
const FULL = { routes: 200, tests: 500, records: 5_000 }

/** The measured commands by scenario name; `prepare` writes files to a folder and returns the command's arguments. */
const commands = {
  'config-tests': {
    title: ({ tests, routes }) => `${tests} tests of a config with ${routes} routes`,
    mostSeconds: 2,
    prepare(dir, { routes, tests }) {
      const file = join(dir, 'gateway.test.yaml')
      writeFileSync(join(dir, 'gateway.yaml'), configText(routes, '/admin'))
      writeFileSync(file, testsText(routes, tests))
      return ['test', file]
    },
  },
  backtest: {
    title: ({ records, routes }) => `back-test of ${records} records, ${routes} routes changed`,
    mostSeconds: 2,
    async prepare(dir, { routes, records }) {
      const [before, after, file] = ['old.yaml', 'new.yaml', 'records.jsonl'].map((name) => join(dir, name))
      const old = configText(routes, '/admin')
      writeFileSync(before, old)
      writeFileSync(after, configText(routes, '/internal'))
      const requests = Array.from({ length: records }, (_each, at) => ({ target: pathOf(at, routes) }))
      const found = await recordsOf(await wholeConfig(old), requests, { isBrief: true })
      writeFileSync(file, found.map((record) => `${JSON.stringify(record)}\n`).join(''))
      return ['backtest', '-f', after, '--before', before, '--records', file]
    },
  },
}

export const commandNames = Object.keys(commands)

/** @returns the table and the bars, as Markdown */
export async function measureCommands(names, { rounds, sizes = FULL }) {
  const rows = []
  for (const name of names) {
    const { title, mostSeconds, prepare } = commands[name]
    const dir = mkdtempSync(join(tmpdir(), 'portico-bench-'))
    try {
      const args = await prepare(dir, sizes)
      const seconds = Array.from({ length: rounds }, () => secondsOf(args)).toSorted((one, other) => one - other)
      rows.push({ title: title(sizes), mostSeconds, seconds })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }
  return renderCommands(rows)
}

export function renderCommands(rows) {
  const table = rows.map(({ title, seconds }) => {
    const [fastest, slowest] = [seconds.at(0) ?? NaN, seconds.at(-1) ?? NaN]
    return `| ${title} | ${median(seconds).toFixed(2)} | ${fastest.toFixed(2)} | ${slowest.toFixed(2)} |`
  })
  return [
    `porticoctl ${existsSync(BUILD) ? 'from its build' : 'from source'}: seconds from start to report`,
    '',
    '| command | median s | fastest s | slowest s |',
    '|---|---:|---:|---:|',
    ...table,
    '',
    ...rows.map(({ title, mostSeconds, seconds }) => {
      const got = median(seconds)
      return `- ${title} ≤ ${mostSeconds} s, ${got.toFixed(2)} s: ${got <= mostSeconds ? 'met' : 'MISSED'}`
    }),
  ].join('\n')
}

function median(sorted) {
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

function secondsOf(args) {
  const begun = performance.now()
  const { status, stderr } = spawnSync(projectNode(), [PROGRAM, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`porticoctl ${args[0]} failed: ${stderr}`)
  return (performance.now() - begun) / 1000
}

function pathOf(at, routes) {
  return `/r${at % routes}/${at % 10 === 0 ? 'admin' : 'item'}/${at}`
}

/**
 * Returns a config whose routes have a deny rule, a header and a path rewrite; the rule denies one folder of each
 * route.
 */
function configText(routes, denied) {
  const list = Array.from({ length: routes }, (_each, at) => {
    const rules = `[{ deny: 'request.path.startsWith("/r${at}${denied}")' }]`
    return [
      `    - name: r${at}`,
      `      matches: [{ path: { pathPrefix: /r${at} } }]`,
      '      policies:',
      `        authorization: { rules: ${rules} }`,
      `        headerModifiers: { request: { set: [{ name: x-route, value: r${at} }] } }`,
      '        urlRewrite: { path: { prefix: / } }',
      `      backends: [{ host: "127.0.0.1:9000" }]`,
    ].join('\n')
  })
  return `binds:\n- port: 8080\n  listeners:\n  - name: web\n    routes:\n${list.join('\n')}\n`
}

function testsText(routes, tests) {
  const list = Array.from({ length: tests }, (_each, at) => {
    const [path, route] = [pathOf(at, routes), `r${at % routes}`]
    const passed = `{ status: 200, route: ${route}, upstream: { path: ${path.slice(route.length + 1)}, headers: { x-route: ${route} } } }`
    const expected = path.includes('/admin/') ? `{ status: 403, by: authorization }` : passed
    return `- { name: test ${at}, send: GET ${path}, expect: ${expected} }`
  })
  return `config: gateway.yaml\nworld: { upstreams: { "*": { body: ok } } }\ntests:\n${list.join('\n')}\n`
}
