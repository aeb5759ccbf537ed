import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

test('programs that start at once build once, and all find the build', async (t) => {
  const checkout = useCheckout(t)
  const starts = await Promise.all(Array.from({ length: 4 }, () => checkout.start()))
  assert.deepEqual(
    starts.map(({ code }) => code),
    [0, 0, 0, 0],
  )
  assert.equal(new Set(starts.map(({ folder }) => folder)).size, 1)
  assert.equal(checkout.builds(), 1)
  assert.deepEqual(checkout.locks(), [])
})

test('a lock that its process left behind holds up no start', async (t) => {
  const checkout = useCheckout(t)
  const { folder } = await checkout.start()
  rmSync(folder, { recursive: true })
  const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(dead, 'exit')
  writeFileSync(`${folder}.lock`, `${dead.pid}`)
  assert.deepEqual(await checkout.start(), { code: 0, folder })
  rmSync(folder, { recursive: true })
  writeFileSync(`${folder}.lock`, '')
  assert.deepEqual(await checkout.start(), { code: 0, folder })
  assert.deepEqual([checkout.builds(), checkout.locks()], [3, []])
})

test('after a failed build the sources run', async (t) => {
  const checkout = useCheckout(t, "throw new Error('no')")
  assert.deepEqual(await checkout.start(), { code: 0, folder: 'null' })
  assert.deepEqual(checkout.locks(), [])
})

/** A checkout of one empty package with the real scripts, but for a bundler that counts its builds. */
function useCheckout(t, ending = 'mkdirSync(folder, { recursive: true })') {
  const root = mkdtempSync(join(tmpdir(), 'portico-checkout-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const log = join(root, 'builds')
  writeFileSync(log, '')
  cpSync(import.meta.dirname, join(root, 'scripts'), { recursive: true })
  mkdirSync(join(root, 'packages/gateway/src'), { recursive: true })
  writeFileSync(join(root, 'packages/gateway/package.json'), '{}')
  writeFileSync(join(root, 'package-lock.json'), '{}')
  const bundler = `import { appendFileSync, mkdirSync } from 'node:fs'
    export async function bundle(name, folder) {
      appendFileSync(${JSON.stringify(log)}, 'b')
      await new Promise((resolve) => setTimeout(resolve, 300))
      ${ending}
    }`
  writeFileSync(join(root, 'scripts/bundle.mjs'), bundler)
  const script = pathToFileURL(join(root, 'scripts/fresh-program.mjs')).href
  const start = async () => {
    const code = `import { freshProgram } from '${script}'; process.stdout.write(String(freshProgram('gateway')))`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [chunks, [status]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')])
    return { code: status, folder: Buffer.concat(chunks).toString() }
  }
  const cache = join(root, 'node_modules/.cache/portico')
  const locks = () => readdirSync(cache).filter((name) => name.endsWith('.lock'))
  return { start, locks, builds: () => readFileSync(log, 'utf8').length }
}
