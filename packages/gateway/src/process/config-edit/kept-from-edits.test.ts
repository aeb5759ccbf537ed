import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refusedEdits } from './kept-from-edits.ts'

const BEFORE = `config: { workers: 2 }
binds:
- port: 8080
  listeners:
  - name: web
    tls: { cert: ./tls.crt, key: ./tls.key }
    routes:
    - name: api
      backends: [{ host: "\${HOST}:80" }]
    - name: tools
      backends:
      - mcp:
          targets:
          - { name: files, stdio: { cmd: node, args: [server.js] } }
          - { name: remote, mcp: { host: "mcp.example.com" } }
    - name: models
      backends:
      - ai: { provider: { openai: {} } }
        policies: { auth: { secretRef: { file: ./key } } }
backends:
- { name: local, static: { unixPath: /run/app.sock } }
- { name: plain, static: { host: 127.0.0.1, port: 9000 } }
`

function edit(from: string | RegExp, to: string): string[] {
  const after = BEFORE.replace(from, to)
  assert.notEqual(after, BEFORE, 'the edit changes something')
  return refusedEdits(BEFORE, after).map(({ kind, path, line, column }) => `${kind} ${path} ${line}:${column}`)
}

describe('parts that edits may not change', () => {
  test('everything else may be edited around it, and it may go', () => {
    assert.deepEqual(refusedEdits(BEFORE, BEFORE), [])
    assert.deepEqual(edit('port: 9000', 'port: 9001'), [])
    assert.deepEqual(
      edit('    - name: api\n', '    - name: first\n      backends: [{ host: "127.0.0.1:1" }]\n    - name: api\n'),
      [],
    )
    assert.deepEqual(edit(/ {10}- \{ name: files.*\n/, ''), [])
    assert.deepEqual(edit('- { name: local, static: { unixPath: /run/app.sock } }\n', ''), [])
    assert.deepEqual(edit(/(- \{ name: local.*\n)(- \{ name: plain.*\n)/, '$2$1'), [], 'another order')
    assert.deepEqual(edit('args: [server.js]', 'args:    [ "server.js" ]'), [], 'another spelling')
    assert.deepEqual(edit('host: 127.0.0.1', 'host: $${HOST}'), [], 'a literal')
    assert.deepEqual(edit('config: { workers: 2 }', 'config:\n  workers: 2'), [])
  })

  test('programs: added, changed, moved, copied', () => {
    const files = 'binds[0].listeners[0].routes[1].backends[0].mcp.targets'
    assert.deepEqual(edit('cmd: node', 'cmd: sh'), [`stdio ${files}[0].stdio 14:28`])
    assert.deepEqual(edit('[server.js]', '[server.js, -x]'), [`stdio ${files}[0].stdio 14:28`])
    assert.deepEqual(
      edit('- { name: remote, mcp: { host: "mcp.example.com" } }', '- { name: remote, stdio: { cmd: sh } }'),
      [`stdio ${files}[1].stdio 15:29`],
    )
    assert.deepEqual(edit('name: files', 'name: other'), [], 'a name is no command')
    assert.deepEqual(edit(/( {10}- \{ name: )files(.*\n)/, '$1files$2$1copy$2'), [`stdio ${files}[1].stdio 15:27`])
    assert.deepEqual(
      edit(
        /^backends:\n/m,
        'backends:\n- { name: x, mcp: { targets: [{ name: files, stdio: { cmd: node, args: [server.js] } }] } }\n',
      ).map((text) => text.split(' ')[0]),
      ['stdio'],
      'elsewhere it is another one',
    )
  })

  test('names of files, folders and sockets', () => {
    assert.deepEqual(edit('./tls.crt', '/etc/passwd'), ['file binds[0].listeners[0].tls.cert 6:12'])
    assert.equal(edit('{ file: ./key }', '{ file: /etc/shadow }').length, 1)
    assert.equal(edit('unixPath: /run/app.sock', 'unixPath: /run/docker.sock').length, 1)
    assert.deepEqual(edit('{ host: 127.0.0.1, port: 9000 }', '{ unixPath: /run/docker.sock }'), [
      'file backends[1].static.unixPath 22:28',
    ])
    assert.equal(edit('"${HOST}:80"', '"unix:/run/docker.sock"').length, 1)
    assert.equal(edit('config: {', 'frontend: { recorder: { disk: { folder: /etc } } }\nconfig: {').length, 1)
  })

  test('variables of the environment', () => {
    assert.deepEqual(edit('port: 9000', 'port: "${PORT}"'), ['variable backends[1].static.port 22:45'])
    assert.equal(edit('${HOST}', '${SECRET}').length, 1)
    assert.equal(edit('{ file: ./key }', '{ env: AWS_SECRET_ACCESS_KEY }').length, 1)
    assert.equal(edit('name: plain', 'name: "a${X:-b}c"').length, 1)
  })

  test('the config block, whole, changed and taken away', () => {
    assert.deepEqual(edit('workers: 2', 'workers: 3'), ['config config 1:1'])
    assert.deepEqual(edit('workers: 2', 'workers: 2, ui: { edit: true }'), ['config config 1:1'])
    assert.deepEqual(edit('config: { workers: 2 }\n', ''), ['config config 1:1'])
    assert.deepEqual(edit('config: { workers: 2 }', 'config: { workers: 2, adminAddr: "0.0.0.0:1" }'), [
      'config config 1:1',
    ])
  })

  test('aliases and merges count as what comes of them', () => {
    const anchored = `x: &cmd { cmd: node }
config: &c { workers: 2 }
binds: [{ port: 1, t: { stdio: *cmd } }]
`
    const refused = (after: string): string[] => refusedEdits(anchored, after).map(({ kind }) => kind)
    assert.deepEqual(refused(anchored), [])
    assert.deepEqual(refused(anchored.replace('&cmd { cmd: node }', '&cmd { cmd: sh }')), ['stdio'])
    assert.deepEqual(refused(anchored.replace('&c { workers: 2 }', '&c { workers: 3 }')), ['config'])
    assert.deepEqual(refused(anchored.replace('port: 1,', 'port: 1, u: { stdio: *cmd },')), ['stdio'])
    assert.deepEqual(refused(anchored.replace('x: &cmd', 'y: &other { cmd: sh }\nx: &cmd').replace('*cmd', '*other')), [
      'stdio',
    ])
    const merged = `%YAML 1.1\n---\nx: &m { stdio: { cmd: sh } }\nbinds: [{ port: 1, t: { <<: *m } }]\n`
    const plain = merged.replace('{ <<: *m }', '{}')
    assert.deepEqual(
      refusedEdits(plain, merged).map(({ kind, path }) => [kind, path]),
      [['stdio', 'binds[0].t.stdio']],
    )
  })
})
