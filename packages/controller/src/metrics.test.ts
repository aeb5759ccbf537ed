import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { families, Metrics } from './metrics.ts'

const withoutPromtool = spawnSync('promtool', ['--version']).error !== undefined && 'promtool is not installed'

function counted(): Metrics {
  const metrics = new Metrics()
  metrics.set('leader', 1)
  metrics.count('status_writes_total', { kind: 'Gateway', result: 'success' })
  metrics.count('status_writes_total', { kind: 'Gateway', result: 'success' }, 2)
  metrics.count('watch_troubles_total', { kind: 'odd "kind"\\\n' })
  for (const seconds of [0.0001, 0.003, 99]) metrics.observe('settle_duration_seconds', seconds)
  return metrics
}

describe('metrics of the controller', () => {
  it('are printed in the text format of Prometheus', () => {
    const text = counted().print()
    assert.match(text, /^portico_controller_status_writes_total\{kind="Gateway",result="success"\} 3$/m)
    assert.match(text, /^portico_controller_settle_duration_seconds_bucket\{le="0\.005"\} 2$/m)
    assert.match(text, /^portico_controller_settle_duration_seconds_bucket\{le="\+Inf"\} 3$/m)
    assert.match(text, /^portico_controller_watch_troubles_total\{kind="odd \\"kind\\"\\\\\\n"\} 1$/m)
    assert.doesNotMatch(text, /change_to_publish/)
  })

  it('are all in the docs, and no others', () => {
    const page = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(portico_controller|process)_(\w+)` \| (\w+) \|/gm)]
    const found = rows.map(([, prefix, name, type]) => `${prefix === 'process' ? 'process_' : ''}${name} ${type}`)
    assert.deepEqual(
      found,
      Object.entries(families).map(([name, { type }]) => `${name} ${type}`),
    )
  })

  it('pass promtool', { skip: withoutPromtool }, () => {
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
      input: counted().print(),
      encoding: 'utf8',
    })
    assert.equal(status, 0, `${stdout}${stderr}`)
  })
})
