import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { COMPOSE, withoutCompose } from './servers.ts'

const folder = fileURLToPath(new URL('../../deploy', import.meta.url))

it("Compose's own reader understands every line of the file", { skip: withoutCompose }, (t) => {
  const { stdout, stderr } = spawnSync(COMPOSE, ['compose.yaml'], { cwd: folder, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.match(stdout, /image: portico:/)
  assert.match(stdout, new RegExp(`source: ${join(folder, '../examples')}\n +target: /etc/portico\n`))

  // It would say so otherwise.
  const scratch = mkdtempSync(join(tmpdir(), 'portico-compose-'))
  t.after(() => rmSync(scratch, { recursive: true, force: true }))
  const wrong = readFileSync(join(folder, 'compose.yaml'), 'utf8').replace('cap_drop', 'cap_dorp')
  writeFileSync(join(scratch, 'compose.yaml'), wrong)
  const refused = spawnSync(COMPOSE, ['compose.yaml'], { cwd: scratch, encoding: 'utf8' })
  assert.match(refused.stdout + refused.stderr, /cap_dorp/)
})
