import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Listener } from '../../ir/resources.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'
import { certificateExpiries } from './certificate-expiry.ts'

const DAY = 86_400
const inDays = (days: number): number => Date.now() / 1000 + days * DAY
const authority = createAuthority('Root')

function listener(name: string, tls: Listener['tls']): Listener {
  return { key: `bind/443/${name}`, bind: 'bind/443', name, hostname: '', protocol: 'HTTPS', tls }
}

describe('ends of certificates', () => {
  test('are told of what is shown, of the chain and of authorities, each once', () => {
    const leaf = authority.issue({ names: ['shop.test', 'www.shop.test'], validToDays: 30 })
    const nameless = authority.issue({ commonName: 'Only a subject', validToDays: 3 })
    const rows = certificateExpiries([
      listener('shop', { cert: leaf.cert + authority.cert, key: leaf.key, root: authority.cert + authority.cert }),
      listener('other', { cert: nameless.cert, key: nameless.key, root: null }),
      { ...listener('plain', null), protocol: 'HTTP' },
    ])
    const seen = rows.map(([[bind, name, use, subject]]) => [bind, name, use, subject])
    assert.deepEqual(seen, [
      ['bind/443', 'shop', 'server', 'shop.test'],
      ['bind/443', 'shop', 'chain', 'Root'],
      ['bind/443', 'shop', 'client_ca', 'Root'],
      ['bind/443', 'other', 'server', 'Only a subject'],
    ])
    assert.ok(rows.every(([labels]) => /^[0-9A-F]+$/.test(labels[4])))
    assert.ok(Math.abs((rows[0]?.[1] ?? 0) - inDays(30)) < DAY)
    assert.ok(Math.abs((rows[3]?.[1] ?? 0) - inDays(3)) < DAY)
  })

  test('follow reloads: a renewed certificate replaces the old one, a listener that goes takes its own along', async (t) => {
    const config = (listeners: object[]) => ({
      config: { workers: 1 },
      binds: [{ port: 0, address: '127.0.0.1', listeners }],
    })
    const routes = [{ policies: { directResponse: { status: 200 } } }]
    const secure = (name: string) => ({
      name,
      hostname: `${name}.test`,
      protocol: 'HTTPS',
      tls: { cert: `${name}.crt`, key: `${name}.key` },
      routes,
    })
    const source = useConfigFile(t, config([secure('one'), secure('two')]))
    const write = (name: string, validToDays: number): void => {
      const { cert, key } = authority.issue({ names: [`${name}.test`], validToDays })
      writeFileSync(join(source.folder, `${name}.key`), key)
      writeFileSync(join(source.folder, `${name}.crt`), cert)
    }
    write('one', 5)
    write('two', 6)
    const program = await useProgram(t, { args: ['-f', source.file] })
    const days = async (): Promise<Record<string, number>> => {
      const text = await (await fetch(`${program.stats}/metrics`)).text()
      const rows = text.matchAll(/^portico_tls_certificate_not_after_seconds\{.*name="([^"]*)".*\} (\d+)$/gm)
      return Object.fromEntries([...rows].map(([, name, end]) => [name, Math.round((Number(end) - inDays(0)) / DAY)]))
    }
    assert.deepEqual(await days(), { 'one.test': 5, 'two.test': 6 })
    write('one', 90)
    await eventually('renewed', async () => (await days())['one.test'] === 90)
    source.replace(config([secure('two')]))
    await eventually('gone', async () => !('one.test' in (await days())))
    assert.deepEqual(await days(), { 'two.test': 6 })
  })
})
