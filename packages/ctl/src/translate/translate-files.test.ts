import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import type { Io } from '../io.ts'
import { translateFiles } from './translate-files.ts'

const cases = fileURLToPath(new URL('../../../translate/cases', import.meta.url))

/** Returns the output for one file. */
async function print(file: string): Promise<{ code: number; text: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const io = { stdout, stderr } as unknown as Io
  const code = await translateFiles({ file, gateway: null, isJson: false }, io)
  return { code, text: [stdout, stderr].map((stream) => String(stream.read() ?? '')).join('') }
}

interface Secret {
  kind: string
  data?: Record<string, string>
  stringData?: Record<string, string>
}

/** Texts that must not be printed; certificates are public. */
function secretsOf(file: string): string[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS() as Secret)
    .filter(({ kind }) => kind === 'Secret')
    .flatMap(({ data = {}, stringData = {} }) => [
      ...Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const),
      ...Object.entries(stringData),
    ])
    .filter(([name]) => !/\.(crt|cert)$/.test(name))
    .flatMap(([, value]) => value.split(/[\s"]+/))
    .filter((word) => word.length > 8)
}

test('no content of a Secret is printed', async () => {
  let looked = 0
  for (const entry of readdirSync(cases, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('in.yaml')) continue
    const file = join(cases, entry)
    const { text } = await print(file)
    for (const word of secretsOf(file)) {
      assert.ok(!text.includes(word), `${entry}: ${word}`)
      looked++
    }
  }
  assert.ok(looked > 20)
})

test('the key of a listener is redacted, its certificate is printed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { cert, key } = createAuthority().issue({ names: ['www.test'] })
  const tls = { certificateRefs: [{ name: 'shown' }] }
  const listeners = [{ name: 'www', port: 443, protocol: 'HTTPS', hostname: 'www.test', tls }]
  const resources = [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      // The name looks like that of a secret, but is not.
      metadata: { name: 'token' },
      spec: { gatewayClassName: 'portico', listeners },
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shown' }, stringData: { 'tls.crt': cert, 'tls.key': key } },
  ]
  for (const resource of resources) writeFileSync(join(folder, `${resource.kind}.json`), JSON.stringify(resource))
  const { code, text } = await print(folder)
  assert.equal(code, 0, text)
  assert.match(text, /hostname: www\.test/)
  assert.match(text, /key: <redacted>/)
  assert.ok(text.includes(cert.split('\n')[1]!))
  assert.ok(!text.includes(key.split('\n')[1]!))
})
