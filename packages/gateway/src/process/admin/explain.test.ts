import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { config, explained, page, refusals, untilGeneration } from '../../testing/admin/explained.ts'
import { request } from '../../testing/client.ts'
import { root, run } from '../../testing/docs/docs-pages.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'

test('a running gateway explains a refusal by the config that decided, also after the next one, and no other request', async (t) => {
  const live = useConfigFile(t, config)
  const { file } = live
  const program = await useProgram(t, { args: ['-f', file] })
  const refused = await request(program.port(), { headers: { 'x-team': 'c' } })
  assert.equal(refused.status, 403)
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const [found] = await refusals(program)
  const id = found?.id ?? ''
  // Callers get the id, and nothing of why.
  assert.equal(refused.headers['x-portico-decision'], id)
  assert.doesNotMatch(refused.text, /x-team|rule/)
  const before = await explained(program, id)
  const line = config.split('\n').findIndex((text) => text.includes('allow:')) + 1
  assert.equal(before.code, 'no_allow_rule_true')
  assert.deepEqual(before.decidedBy?.place, { file, line, column: config.split('\n')[line - 1]!.indexOf('allow') + 1 })
  assert.equal(before.wouldPass[0]?.text, 'request.headers.x-team is one of ["a","b"] (it is "c").')
  assert.ok(page.includes(`${before.headline}\n`))
  live.replace(config.replace('["a", "b"]', '["c"]'))
  await untilGeneration(program, 2)
  const after = await explained(program, id)
  assert.deepEqual([after.config, after.decidedBy], [{ generation: 1, live: 2, isExact: true }, before.decidedBy])
  assert.equal((await fetch(`${program.admin}/api/requests/nothing/explain`)).status, 404)
})

test('the page shows what is printed, and every command of it works', async (t) => {
  const { file } = useConfigFile(t, config)
  const program = await useProgram(t, { args: ['-f', file], env: { WORKER_THREADS: '1' } })
  await request(program.port(), { headers: { 'x-team': 'c' } })
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const id = (await refusals(program))[0]?.id ?? ''
  const admin = program.admin.replace('http://', '')
  const outputs: string[] = []
  const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, text = '']) => text.trimEnd().split('\n'))
  // There is no cluster here.
  for (const command of commands.filter((line) => !line.includes('gateway/web'))) {
    const here = command
      .replace('./porticoctl', `${process.execPath} ${join(root, 'packages/ctl/bin/porticoctl.mjs')}`)
      .replace('--local', `--local --admin ${admin}`)
      .replace('http://127.0.0.1:15000', program.admin)
    const { code, stdout, stderr } = await run(['sh'], `ID=${id}\n${here}\n`)
    assert.equal(code, 0, `${command}\n${stderr}`)
    outputs.push(stdout)
  }
  const [, shown = ''] = /^```\n(authorization[^]*?)^```$/m.exec(page) ?? []
  const [, ...lines] = (outputs[0] ?? '').replaceAll(file, 'gateway.yaml').replace('bind/0', 'bind/3000').split('\n')
  assert.equal(lines.join('\n'), shown)
  assert.equal(outputs.length, 6)
})
