import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const PARTS = fileURLToPath(new URL('../.ci/parts.sh', import.meta.url))

function run(t, lines) {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const text = [
    'set -euo pipefail',
    `source ${PARTS}`,
    `cd ${folder}`,
    'until_file() { until [ -e "$1" ]; do sleep 0.01; done; }',
  ]
  // All that runs, files of the parts included, is in the folder.
  const env = { PATH: process.env.PATH, TMPDIR: folder }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', [...text, ...lines].join('\n')], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr, folder }
}

describe('parts of a run', { skip: process.platform === 'linux' ? false : '.ci/run is for Linux' }, () => {
  test('in the background, one runs beside the others, and all are in the summary', (t) => {
    const { status, stdout, stderr } = run(t, [
      'job() { until_file go; echo built; touch done; }',
      'begin servers job',
      'part first touch go',
      'part second until_file done',
      'part wait finish servers',
      'finish servers',
      "echo '  a suite: no such server' >>$SKIPPED_TO",
      'part last echo end',
    ])
    assert.equal(status, 0, stderr)
    assert.equal(stdout.match(/^built$/gm)?.length, 1)
    assert.ok(stdout.indexOf('built') < stdout.indexOf('== last'))
    const summary = stdout.slice(stdout.lastIndexOf('end\n') + 4)
    const names = [...summary.matchAll(/^ +\d+ s {2}(.*)$/gm)].map(([, name]) => name)
    assert.deepEqual(names.toSorted(), ['first', 'last', 'second', 'servers (in the background)', 'wait'])
    assert.match(summary, /\nskipped:\n {2}a suite: no such server\n$/)
  })

  test('in the background, one that fails fails the run with its output', (t) => {
    const lines = [
      'job() { echo no such module; false; echo goes on; }',
      'begin servers job',
      'part wait finish servers',
    ]
    const { status, stdout } = run(t, [...lines, 'part never echo reached'])
    assert.equal(status, 1)
    assert.match(stdout, /== servers: ended in the background\nno such module\nfailed with 1: servers\n/)
    assert.doesNotMatch(stdout, /goes on|reached/)
  })

  test('in the background, one that has failed stops the run before the next part', (t) => {
    const { status, stdout } = run(t, [
      'job() { echo no such module; exit 3; }',
      'begin servers job',
      'while kill -0 "${job_pids[servers]}" 2>/dev/null; do sleep 0.01; done',
      'part never echo reached',
    ])
    assert.equal(status, 3)
    assert.match(stdout, /no such module\nfailed with 3: servers\n/)
    assert.doesNotMatch(stdout, /reached/)
  })

  test('in the background, one ends with all that it started when another part fails', async (t) => {
    const { status, stdout, folder } = run(t, [
      'job() { sleep 600 & echo $! >child; touch started; wait; }',
      'begin servers job',
      'part first until_file started',
      'part broken false',
    ])
    assert.equal(status, 1)
    assert.match(stdout, /not waited for: servers\n\n +\d+ s {2}first\n$/)
    const child = readFileSync(join(folder, 'child'), 'utf8').trim()
    while (isRunning(child)) await wait(10)
  })
})

/** A process that has ended may be a zombie until its parent looks. */
function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
