import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AppliedConfig, CheckedConfig } from '../../admin/config-view.ts'
import { request } from '../../testing/client.ts'
import { apply, call, configText, useEditable, view } from '../../testing/edits.ts'
import { eventually, metric, type Program, PROGRAM, useConfigFile, useProgram } from '../../testing/process.ts'
import { canMount, withMounts } from '../../testing/mounts.ts'
import { takenPort } from '../../testing/scene.ts'

/** Edits through the admin server beside everything else that changes the file, or keeps it from being changed. */

const as = (body: string): string => configText({ body })

async function versionOf(program: Program): Promise<string> {
  return (await view(program)).version ?? ''
}

/** Returns an edit of the text that the editor shows; secrets, which it hides, stay in the file. */
async function edited(program: Program, body: string): Promise<{ text: string; basedOn: string }> {
  const { text, version } = await view(program)
  return {
    text: text?.replace(/status: 200, body: (?!limited)\w+/, `status: 200, body: ${body}`) ?? '',
    basedOn: version ?? '',
  }
}

describe('an edit of the config', () => {
  test('one of several concurrent edits is applied, and the others are told that the file has changed', async (t) => {
    const { program, config } = await useEditable(t)
    const edits = await Promise.all(Array.from({ length: 8 }, (_, at) => edited(program, `by${at}`)))
    const answers = await Promise.all(edits.map((edit) => apply(program, edit)))
    const statuses = answers.map(({ status }) => status)
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length
    assert.deepEqual([count(200), count(409)], [1, 7])
    const winner = `by${statuses.indexOf(200)}`
    assert.equal(readFileSync(config.file, 'utf8'), as(winner))
    assert.equal((await request(program.port())).body, winner)
    assert.deepEqual(readdirSync(config.folder), ['gateway.yaml'])
    assert.equal((await view(program)).generation, 2)
  })

  test('loses nothing that somebody else has written since it was begun', async (t) => {
    const { program, config } = await useEditable(t)
    const mine = await edited(program, 'mine')
    config.edit(as('theirs'))
    assert.equal((await apply(program, mine)).status, 409)
    assert.equal(readFileSync(config.file, 'utf8'), as('theirs'))
    await eventually('theirs is live', async () => (await request(program.port())).body === 'theirs')
    const again = await apply(program, await edited(program, 'mine'))
    assert.equal(again.status, 200)
    assert.equal((await request(program.port())).body, 'mine')
  })

  test('goes live among reloads that are asked for all the time', async (t) => {
    const { program, config } = await useEditable(t)
    const hangUp = setInterval(() => program.child.kill('SIGHUP'), 5)
    t.after(() => clearInterval(hangUp))
    for (let round = 0; round < 12; round++) {
      const answer = await apply(program, await edited(program, `round${round}`))
      assert.equal(answer.status, 200, await answer.text())
      assert.equal((await request(program.port())).body, `round${round}`)
    }
    clearInterval(hangUp)
    assert.equal(readFileSync(config.file, 'utf8'), as('round11'))
    assert.deepEqual((await view(program)).problems, [])
    assert.doesNotMatch(program.stdout(), /config rejected/)
  })

  test('that cannot go live leaves no problem behind, whoever asks for a reload meanwhile', async (t) => {
    const { program, config } = await useEditable(t)
    const port = await takenPort(t)
    const more = `- port: ${port}\n  address: 127.0.0.1\n  listeners: [{ name: other, routes: [] }]\n`
    const hangUp = setInterval(() => program.child.kill('SIGHUP'), 3)
    t.after(() => clearInterval(hangUp))
    for (let round = 0; round < 8; round++) {
      const { text, basedOn } = await edited(program, 'first')
      const answer = await apply(program, { text: text + more, basedOn })
      assert.equal(answer.status, 422)
      assert.match(((await answer.json()) as CheckedConfig).problems[0]?.text ?? '', new RegExp(`${port}`))
      assert.equal(readFileSync(config.file, 'utf8'), as('first'))
    }
    clearInterval(hangUp)
    assert.deepEqual((await view(program)).problems, [])
    assert.equal(await metric(program, 'portico_config_synchronized'), 1)
    assert.equal((await request(program.port())).body, 'first')
  })

  test('an edit of a program behind its launcher goes live, and survives a reload signal to either process', async (t) => {
    const config = useConfigFile(t, as('first'))
    const runtime = new URL('../../../bin/runtime.mjs', import.meta.url).href
    const launcher = join(config.folder, 'launcher.mjs')
    writeFileSync(
      launcher,
      `import { runPinned } from '${runtime}'\nrunPinned('${PROGRAM}', process.argv.slice(2), { endSignal: 'SIGUSR2' })`,
    )
    const program = await useProgram(t, {
      ...{ command: [process.execPath, launcher], args: ['-f', config.file], group: true },
      env: { ADMIN_TOKEN: 'open-sesame' },
    })
    const pid = program.child.pid ?? 0
    const answer = await apply(program, await edited(program, 'second'))
    assert.deepEqual([answer.status, ((await answer.json()) as AppliedConfig).generation], [200, 2])
    for (const [round, who] of [pid, -pid].entries()) {
      const before = await metric(program, 'portico_config_reloads_total')
      process.kill(who, 'SIGHUP')
      await eventually(`reload ${round}`, async () => (await metric(program, 'portico_config_reloads_total')) > before)
      assert.equal((await request(program.port())).body, 'second')
    }
    const { generation } = await view(program)
    const past = (await (await call(program, '/api/config/history/1')).json()) as { text: string }
    const back = await apply(program, { text: past.text, basedOn: await versionOf(program), generation: 1 })
    assert.deepEqual([back.status, ((await back.json()) as AppliedConfig).generation], [200, generation + 1])
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    assert.equal(readFileSync(config.file, 'utf8'), as('first'))
  })
})

describe('a config file as containers have it', () => {
  test('behind links: they stay, and when they are swapped that is the next config', async (t) => {
    const { folder } = useConfigFile(t, '')
    const dated = (name: string, text: string): void => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'portico.yaml'), text)
      symlinkSync(name, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    }
    dated('..one', as('first'))
    const path = join(folder, 'portico.yaml')
    symlinkSync('..data/portico.yaml', path)
    const program = await useProgram(t, { args: ['-f', path], env: { ADMIN_TOKEN: 'open-sesame' } })
    const stale = await edited(program, 'stale')
    assert.equal((await apply(program, await edited(program, 'second'))).status, 200)
    assert.equal(readFileSync(join(folder, '..one', 'portico.yaml'), 'utf8'), as('second'))
    dated('..two', as('third'))
    await eventually('the third is live', async () => (await request(program.port())).body === 'third')
    assert.equal((await apply(program, stale)).status, 409)
    assert.equal((await apply(program, await edited(program, 'fourth'))).status, 200)
    assert.equal(readFileSync(join(folder, '..two', 'portico.yaml'), 'utf8'), as('fourth'))
    assert.equal(readFileSync(join(folder, '..one', 'portico.yaml'), 'utf8'), as('second'))
  })

  const mounts = [
    ['read-only', 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"', /its folder is read-only \(EROFS\)/],
    ['mounted by itself', 'mount --bind "$2" "$2"', /mount its folder \(EBUSY\)/],
  ] as const
  for (const [name, mount, why] of mounts) {
    test(`${name}: it is said what to do, and all goes on`, async (t) => {
      if (!canMount(t)) return
      const config = useConfigFile(t, as('first'))
      const program = await useProgram(t, {
        command: withMounts(mount, config.folder, config.file),
        args: ['-f', config.file],
        env: { ADMIN_TOKEN: 'open-sesame' },
      })
      const answer = await apply(program, await edited(program, 'second'))
      assert.equal(answer.status, 500)
      assert.match(await answer.text(), why)
      assert.deepEqual(readdirSync(config.folder), ['gateway.yaml'])
      assert.equal(readFileSync(config.file, 'utf8'), as('first'))
      assert.deepEqual((await view(program)).problems, [])
      assert.equal((await request(program.port())).body, 'first')
      assert.equal(await metric(program, 'portico_config_synchronized'), 1)
    })
  }
})
