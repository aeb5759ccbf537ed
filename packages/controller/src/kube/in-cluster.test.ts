import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inClusterConnection } from './in-cluster.ts'

const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }

test('outside a cluster there is no connection', () => {
  assert.equal(inClusterConnection({}), undefined)
})

test('in a cluster it has the address, the CA and a token that is read again after a 401', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-account-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'ca.crt'), 'PEM')
  const connection = inClusterConnection(env, folder)
  assert.equal(connection?.server, 'https://10.0.0.1:443')
  await assert.rejects(connection.credentials(false), /token/)
  writeFileSync(join(folder, 'token'), 'one\n')
  assert.deepEqual(await connection.credentials(false), { ca: 'PEM', authorization: 'Bearer one' })
  writeFileSync(join(folder, 'token'), 'two')
  assert.equal((await connection.credentials(false)).authorization, 'Bearer one')
  assert.equal((await connection.credentials(true)).authorization, 'Bearer two')
})

test('an IPv6 address is put in brackets', () => {
  assert.equal(inClusterConnection({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' })?.server, 'https://[fd00::1]:443')
})
