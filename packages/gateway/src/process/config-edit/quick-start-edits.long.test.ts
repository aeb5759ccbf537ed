import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { AppliedConfig, CheckedConfig, ConfigView, PastConfigText } from '../../admin/config-view.ts'
import { request } from '../../testing/client.ts'
import { apply, call, TOKEN, view } from '../../testing/edits.ts'
import { noTerminal, type Program, type RunOptions, useProgram } from '../../testing/process.ts'
import { closedPort } from '../../testing/scene.ts'

const HELLO = 'from Portico'

describe('the config of the quick start', () => {
  test('is changed in memory, with the token, and taken back', async (t) => {
    const program = await useQuickStart(t, { env: { ADMIN_TOKEN: TOKEN } })
    const before = await view(program)
    assert.deepEqual([before.isInMemory, before.file, before.edit], [true, '', OPEN])
    assert.doesNotMatch(program.stderr(), /its token|open-sesame/)
    const text = before.text?.replace(HELLO, 'from memory') ?? ''
    const edit = { text, basedOn: before.version ?? '' }
    assert.equal((await apply(program, edit, 'wrong')).status, 401)
    const applied = await apply(program, edit)
    assert.equal(((await applied.json()) as AppliedConfig).generation, 2)
    assert.match((await request(program.port())).body, /from memory/)
    assert.equal((await view(program)).text, text)
    assert.equal((await apply(program, edit)).status, 409, 'of a text that is no more')
    await program.logged(/config in memory changed through the admin API/)

    const past = (await (await call(program, '/api/config/history/1')).json()) as PastConfigText
    const { version } = await view(program)
    const back = await apply(program, { text: past.text ?? '', basedOn: version ?? '', generation: 1 })
    assert.equal(back.status, 200)
    assert.ok((await request(program.port())).body.includes(HELLO))
    assert.equal((await view(program)).text, before.text)
  })

  test('keeps its programs, files, variables and the config block as a file does', async (t) => {
    const program = await useQuickStart(t, { env: { ADMIN_TOKEN: TOKEN } })
    const { text, version } = await view(program)
    const kept = [
      ['stdio', /cmd: .*/, 'cmd: sh'],
      ['file', 'protocol: HTTP', 'protocol: HTTP\n    tls: { cert: /etc/hostname, key: /etc/hostname }'],
      ['variable', HELLO, '${ADMIN_TOKEN}'],
      ['variable', '${PORT:-', '${HOME:-'],
      ['config', 'edit: true', 'edit: false'],
    ] as const
    for (const [kind, from, to] of kept) {
      const edited = text?.replace(from, to) ?? ''
      assert.notEqual(edited, text)
      const answer = await apply(program, { text: edited, basedOn: version ?? '' })
      const { refused } = (await answer.json()) as CheckedConfig
      assert.deepEqual([answer.status, refused[0]?.kind], [422, kind])
    }
    const wrong = await apply(program, { text: text?.replace('csrf', 'csfr') ?? '', basedOn: version ?? '' })
    const { problems } = (await wrong.json()) as CheckedConfig
    assert.match(problems[0]?.text ?? '', /^<quick start>:\d+:\d+: .*did you mean `csrf`/s)
    assert.equal((await view(program)).generation, 1)
  })

  test('one of several concurrent edits is in memory, and the others are told that the config has changed', async (t) => {
    const program = await useQuickStart(t, { env: { ADMIN_TOKEN: TOKEN } })
    const { text, version } = await view(program)
    const edits = Array.from({ length: 6 }, (_, at) => text?.replace(HELLO, `by ${at}`) ?? '')
    const answers = await Promise.all(edits.map((edit) => apply(program, { text: edit, basedOn: version ?? '' })))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [200, 409, 409, 409, 409, 409],
    )
    const after = await view(program)
    assert.deepEqual([after.text, after.generation, after.problems], [edits[statuses.indexOf(200)], 2, []])
    assert.ok((await request(program.port())).body.includes(`by ${statuses.indexOf(200)}`))
  })

  test('that comes when the gateway is about to end is told that it would end too', async (t) => {
    const program = await useQuickStart(t, { env: { ADMIN_TOKEN: TOKEN, CONNECTION_MIN_TERMINATION_DEADLINE: '5s' } })
    const { text, version } = await view(program)
    const edit = { text: text?.replace(HELLO, 'late') ?? '', basedOn: version ?? '' }
    program.child.kill('SIGTERM')
    await program.logged(/draining/)
    const late = await apply(program, edit)
    assert.equal(late.status, 409)
    assert.match(await late.text(), /shutting down, and its config in memory is lost/)
    assert.ok((await request(program.port())).body.includes(HELLO))
    assert.deepEqual([(await view(program)).text, (await view(program)).generation], [text, 1])
    assert.equal((await program.ended).code, 0)
  })

  test('with the terminal goes the gateway, and nothing of an edit is anywhere', async (t) => {
    const program = await useQuickStart(t, { env: { ADMIN_TOKEN: TOKEN } })
    const { text, version } = await view(program)
    const edit = { text: text?.replace(HELLO, 'unseen-edit') ?? '', basedOn: version ?? '' }
    assert.equal((await apply(program, edit)).status, 200)
    program.child.kill('SIGHUP')
    assert.deepEqual(await program.ended, { code: null, signal: 'SIGHUP' })
    assert.doesNotMatch(program.stdout() + program.stderr(), /unseen-edit/)
  })

  test('is for reading where there is neither a token nor a terminal, and no token is printed', async (t) => {
    const program = await useQuickStart(t, {})
    const { edit, text, version } = await view(program)
    assert.deepEqual([edit.isAllowed, edit.reason?.includes('ADMIN_TOKEN')], [false, true])
    assert.doesNotMatch(program.stderr(), /its token/)
    assert.equal((await apply(program, { text: text ?? '', basedOn: version ?? '' })).status, 403)
  })

  test(
    'on a terminal has a token of its own, which is shown there once and asked for by changes alone',
    { skip: noTerminal },
    async (t) => {
      const program = await useQuickStart(t, { terminal: true })
      const [, token = ''] = /^ {2}its token {2}([\w-]{32}) {2}/m.exec(program.stderr()) ?? []
      assert.notEqual(token, '', program.stderr())
      const before = (await (await fetch(`${program.admin}/api/config`)).json()) as ConfigView
      assert.deepEqual(before.edit, { ...OPEN, token: 'terminal' })
      const edit = { text: before.text?.replace(HELLO, 'from memory') ?? '', basedOn: before.version ?? '' }
      for (const wrong of ['', TOKEN]) assert.equal((await apply(program, edit, wrong)).status, 403)
      assert.equal((await apply(program, edit, token)).status, 200)
      assert.match((await request(program.port())).body, /from memory/)
      const dump = await (await fetch(`${program.admin}/config_dump`)).text()
      assert.ok(!dump.includes(token))
      assert.equal(program.stdout().split(token).length, 2, 'once')
    },
  )
})

const OPEN = { isAllowed: true, reason: null, token: 'variable' }

async function useQuickStart(t: TestContext, options: RunOptions): Promise<Program> {
  const env = { PORT: String(await closedPort()), WORKER_THREADS: '1', ...options.env }
  return useProgram(t, { ...options, env })
}
