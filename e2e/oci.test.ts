import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The images, unpacked and run as a container engine would, without one. */

interface Descriptor {
  digest: string
  size: number
}

interface UnpackedImage {
  root: string
  /** Runs the program of the image, as its user. */
  inside: string[]
}

const script = fileURLToPath(new URL('../deploy/oci.sh', import.meta.url))
/** The search path of administrators, which contains chroot. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const skip = process.getuid?.() === 0 ? false : 'chroot needs root'
const ANY = '127.0.0.1:0'

describe('the images hold what they name, and run as nobody in particular', { skip }, () => {
  it('that of the gateway', { timeout: 600_000 }, async (t) => {
    const { inside, root } = unpack(t, 'gateway')
    assert.match(readFileSync(join(root, 'opt/portico/sbom.cdx.json'), 'utf8'), /"bomFormat": "CycloneDX"/)
    assert.match(execFileSync('chroot', [...inside, '--version'], { encoding: 'utf8', env: { PATH } }), /^portico \d/)
    const env = { PATH, ADMIN_ADDR: ANY, STATS_ADDR: ANY, READINESS_ADDR: ANY, PORT: '0', XDG_STATE_HOME: '/var/lib' }
    const gateway = spawn('chroot', inside, { env })
    t.after(() => gateway.kill('SIGKILL'))
    const port = await said(gateway, /^ {2}traffic +127\.0\.0\.1:(\d+)/m)
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    assert.equal(answer.status, 200)
    await answer.text()
    assert.equal(await ended(gateway), 0)
  })

  it('that of the controller', { timeout: 600_000 }, async (t) => {
    const { inside, root } = unpack(t, 'controller')
    const version = execFileSync('chroot', [...inside, '--version'], { encoding: 'utf8', env: { PATH } })
    assert.match(version, /^portico-controller \d/)
    // An API server that is not there yet is waited for.
    const cluster = { name: 'a', cluster: { server: 'https://127.0.0.1:9' } }
    const context = { name: 'a', context: { cluster: 'a', user: 'a' } }
    const users = [{ name: 'a', user: { token: 'none' } }]
    const kubeconfig = { clusters: [cluster], contexts: [context], users, 'current-context': 'a' }
    writeFileSync(join(root, 'etc/portico/kubeconfig'), JSON.stringify(kubeconfig))
    const env = { PATH, KUBECONFIG: '/etc/portico/kubeconfig', HEALTH_ADDR: ANY, ADMIN_ADDR: ANY, STREAM_ADDR: ANY }
    const controller = spawn('chroot', inside, { env })
    t.after(() => controller.kill('SIGKILL'))
    const port = await said(controller, /health=\S*127\.0\.0\.1:(\d+)/)
    const statusOf = async (path: string): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`)
      await answer.text()
      return answer.status
    }
    assert.deepEqual([await statusOf('/healthz'), await statusOf('/readyz')], [200, 503])
    assert.equal(await ended(controller), 0)
  })
})

function unpack(t: TestContext, program: 'gateway' | 'controller'): UnpackedImage {
  const folder = mkdtempSync(join(tmpdir(), 'portico-oci-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync(script, [program, join(folder, 'image.tar')])
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
  assert.equal(config.User, '65532:65532')
  const root = join(folder, 'root')
  mkdirSync(root)
  execFileSync('tar', ['-xzf', blob(manifest.layers[0]), '-C', root])
  return { root, inside: ['--userspec', config.User, root, ...config.Entrypoint] }
}

/** The part of what a program prints that the pattern asks for. */
function said(program: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    program.on('exit', () => reject(new Error(`it ended: ${text}`)))
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      const found = pattern.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    program.stdout?.on('data', read)
    program.stderr?.on('data', read)
  })
}

async function ended(program: ChildProcess): Promise<unknown> {
  const end = new Promise((resolve) => program.on('exit', resolve))
  program.kill('SIGTERM')
  return end
}
