import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { createAuthority } from '../../testing/certificates.ts'
import { useConfigFile, useProgram } from '../../testing/process.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

test('a client certificate of a foreign authority gets an alert, a line in the log and a count', async (t) => {
  const { dir } = useTlsFiles(t, ['a.test'])
  const tls = { cert: join(dir, 'a.test.crt'), key: join(dir, 'a.test.key'), root: join(dir, 'ca.crt') }
  const routes = [{ policies: { directResponse: { status: 200, body: 'secret' } } }]
  const { file } = useConfigFile(t, {
    config: { workers: 1 },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ protocol: 'HTTPS', tls, routes }] }],
  })
  const program = await useProgram(t, { args: ['-f', file] })
  const foreign = createAuthority('Foreign CA').issue({ commonName: 'client' })
  const socket = connect({
    port: program.port(),
    host: '127.0.0.1',
    servername: 'a.test',
    rejectUnauthorized: false,
    ...foreign,
  })
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n')
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')
  await program.logged(/warn\t.*client certificate rejected.*UNABLE_TO_VERIFY_LEAF_SIGNATURE/)
  const metrics = await (await fetch(`${program.stats}/metrics`)).text()
  assert.match(metrics, /downstream_connections_refused_total\{[^}]*reason="client_certificate"[^}]*\} 1/)
})
