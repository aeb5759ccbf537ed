import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { families as controllerFamilies } from '../packages/controller/src/metrics.ts'
import { exposedName, families } from '../packages/gateway/src/telemetry/metrics/families.ts'

const fileOf = (path) => fileURLToPath(new URL(`../deploy/${path}`, import.meta.url))
const read = (path) => readFileSync(fileOf(path), 'utf8')

const namesOf = (name, { type }) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])

/** Every metric name of the gateway and the controller, including the parts of histograms. */
const known = new Set([
  ...Object.entries(families).flatMap(([family, kind]) => namesOf(exposedName(family), kind)),
  ...Object.entries(controllerFamilies).flatMap(([family, kind]) => namesOf(`portico_controller_${family}`, kind)),
])

function expectKnown(expressions) {
  const named = expressions.flatMap((text) => text.match(/\b(?:portico|process)_[a-z_]+/g) ?? [])
  assert.ok(named.length > 0)
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  )
}

test('alerts are about metrics that exist, and each says what is wrong', () => {
  const { groups } = parse(read('prometheus/alerts.yaml'))
  const rules = groups.flatMap((group) => group.rules)
  expectKnown(rules.map(({ expr }) => expr))
  for (const { alert, annotations } of rules) assert.ok(annotations.summary.length > 0, alert)
})

test('promtool accepts the alerts', (t) => {
  const result = spawnSync('promtool', ['check', 'rules', fileOf('prometheus/alerts.yaml')], { encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`promtool is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
})

test('alerts of spend and of the ledger fire when they should, and only then', (t) => {
  const file = fileOf('prometheus/alerts.test.yaml')
  const result = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`promtool is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
  const broken = join(mkdtempSync(join(tmpdir(), 'portico-alerts-')), 'test.yaml')
  t.after(() => rmSync(dirname(broken), { recursive: true }))
  writeFileSync(
    broken,
    readFileSync(file, 'utf8')
      .replace('[alerts.yaml]', `[${fileOf('prometheus/alerts.yaml')}]`)
      .replace('own have', 'm have'),
  )
  assert.notEqual(spawnSync('promtool', ['test', 'rules', broken]).status, 0, 'the tests assert nothing')
})

test('the dashboard shows metrics that exist', () => {
  const { panels, templating } = JSON.parse(read('grafana/portico.json'))
  expectKnown(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
  expectKnown(templating.list.flatMap(({ query }) => (query.startsWith('label_values') ? [query] : [])))
})

test('the unit starts, reloads and stops the program as it is packed', () => {
  const unit = read('systemd/portico.service')
  const { bin } = JSON.parse(readFileSync(new URL('../packages/gateway/package.json', import.meta.url), 'utf8'))
  const [name] = Object.keys(bin)
  assert.match(unit, new RegExp(`^ExecStart=/opt/portico/node_modules/\\.bin/${name} -f `, 'm'))
  assert.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m)
})

test('systemd understands every line of the unit', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-unit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'portico.service')
  // The program is not installed here, and systemd checks that it exists.
  const withProgram = (unit) => unit.replaceAll('/opt/portico/node_modules/.bin/portico', '/bin/true')
  const verify = (unit) => {
    writeFileSync(file, withProgram(unit))
    return spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  }
  const result = verify(read('systemd/portico.service'))
  if (result.error !== undefined) return t.skip(`systemd-analyze is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stderr)
  assert.equal(result.stderr, '')
  assert.match(verify(read('systemd/portico.service').replace('ProtectHome', 'ProtectHme')).stderr, /ProtectHme/)
})

test('hadolint finds nothing in the Dockerfile', (t) => {
  const result = spawnSync('hadolint', [fileOf('Dockerfile')], { encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`hadolint is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
})
