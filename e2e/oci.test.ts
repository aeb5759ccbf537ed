import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The image, unpacked and run as a container engine would, without one. */

interface Descriptor {
  digest: string
  size: number
}

const script = fileURLToPath(new URL('../deploy/oci.sh', import.meta.url))
/** Of administrators, where chroot is. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const skip = process.getuid?.() === 0 ? false : 'chroot needs root'

it('the image holds what it names, and runs as nobody in particular', { skip, timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-oci-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync(script, [join(folder, 'image.tar')])
  execFileSync('tar', ['-xf', 'image.tar'], { cwd: folder })
  const blob = ({ digest, size }: Descriptor): string => {
    const file = join(folder, 'blobs', digest.replace(':', '/'))
    assert.equal(`sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`, digest)
    assert.equal(statSync(file).size, size)
    return file
  }
  const parsed = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
  const index = parsed<{ manifests: [Descriptor] }>(join(folder, 'index.json'))
  const manifest = parsed<{ config: Descriptor; layers: [Descriptor] }>(blob(index.manifests[0]))
  const { config } = parsed<{ config: { User: string; Entrypoint: string[] } }>(blob(manifest.config))
  const root = join(folder, 'root')
  mkdirSync(root)
  execFileSync('tar', ['-xzf', blob(manifest.layers[0]), '-C', root])
  const inside = ['--userspec', config.User, root, ...config.Entrypoint]
  assert.match(execFileSync('chroot', [...inside, '--version'], { encoding: 'utf8', env: { PATH } }), /^portico \d/)

  const any = '127.0.0.1:0'
  const env = { PATH, ADMIN_ADDR: any, STATS_ADDR: any, READINESS_ADDR: any, PORT: '0', XDG_STATE_HOME: '/var/lib' }
  const gateway = spawn('chroot', inside, { env })
  t.after(() => gateway.kill('SIGKILL'))
  const ended = new Promise((resolve) => gateway.on('exit', resolve))
  const port = await new Promise<string>((resolve, reject) => {
    let text = ''
    gateway.on('exit', () => reject(new Error(`it ended: ${text}`)))
    gateway.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = /^ {2}traffic +127\.0\.0\.1:(\d+)/m.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(answer.status, 200)
  await answer.text()
  gateway.kill('SIGTERM')
  assert.equal(await ended, 0)
})
