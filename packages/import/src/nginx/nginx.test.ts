import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { printImport } from '../core/print-import.ts'
import { entryLine } from '../core/report.ts'
import { importNginx } from './import-nginx.ts'

interface PrintedRoute {
  readonly name: string
  readonly policies?: Readonly<Record<string, unknown>>
}

/** Imports a config with one server, and returns its imported routes. */
function routesOf(...lines: readonly string[]): readonly PrintedRoute[] {
  const text = `server {\n listen 8080;\n${lines.join('\n')}\n}\n`
  const result = importNginx([{ name: 'nginx.conf', text }], () => 'no files')
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const config = parse(printImport(result.value, ['nginx.conf'], 'nginx').config) as {
    binds: readonly { listeners: readonly { routes: readonly PrintedRoute[] }[] }[]
  }
  return config.binds[0]?.listeners[0]?.routes ?? []
}

const OFFICE = { require: 'cidr("10.0.0.0/8").containsIP(source.address)' }

test('a named location that responds is behind the access rules of the location that leads to it', () => {
  const [route] = routesOf(
    'location / { allow 10.0.0.0/8; deny all; try_files $uri @text; }',
    'location @text { return 200 "text"; }',
  )
  assert.deepEqual(route?.policies, {
    authorization: { rules: [OFFICE] },
    directResponse: { status: 200, body: 'text' },
  })
})

test('locations within an internal one are internal too', () => {
  const routes = routesOf(
    'location /a/ {',
    'internal;',
    'proxy_pass http://a:1;',
    'location /a/b/ { proxy_pass http://a:2; } }',
  )
  for (const { name, policies } of routes) {
    assert.deepEqual(policies, { directResponse: { status: 404, body: 'not found\n' } }, name)
  }
  assert.equal(routes.length, 5)
})

test('methods that are denied get neither a redirect nor a text', () => {
  for (const change of ['rewrite ^/a/(.*)$ /b/$1 last;', 'rewrite ^ /b permanent;', 'return 200 "text";']) {
    const routes = routesOf(
      `location /a/ { limit_except GET { deny all; } ${change} }`,
      'location / { proxy_pass http://a:1; }',
    )
    const route = routes.find(({ name }) => name === 'a')
    assert.equal((route?.policies?.['directResponse'] as { status: number } | undefined)?.status, 501, change)
  }
})

test('rules of access are those of the nearest level that has one of them', () => {
  const [route] = routesOf('deny all;', 'location / { allow 10.0.0.0/8; deny all; proxy_pass http://a:1; }')
  assert.deepEqual(route?.policies?.['authorization'], { rules: [OFFICE] })
  const [open] = routesOf('deny all;', 'location / { allow all; proxy_pass http://a:1; }')
  assert.equal(open?.policies?.['authorization'], undefined)
})

test('certificates are in the report, and those around the servers count for servers without their own', () => {
  const text = `http {
 ssl_certificate shared.pem;
 ssl_certificate_key shared.key;
 server { listen 443 ssl; server_name a.test; ssl_certificate own.pem; ssl_certificate_key own.key; }
 server { listen 443 ssl; server_name b.test; location / { proxy_pass http://127.0.0.1:9000; } }
}`
  const result = importNginx([{ name: 'nginx.conf', text }], () => 'no files')
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const lines = result.value.report.map(entryLine).filter((line) => line.includes('ssl_certificate'))
  assert.equal(lines.length, 4)
  for (const line of lines) assert.match(line, /: carried: ssl_certificate/)
  const config = parse(printImport(result.value, ['nginx.conf'], 'nginx').config) as {
    binds: readonly { listeners: readonly { hostname?: string; tls: object }[] }[]
  }
  assert.deepEqual(
    config.binds[0]?.listeners.map(({ hostname, tls }) => [hostname, tls]),
    [
      [undefined, { cert: 'own.pem', key: 'own.key' }],
      ['a.test', { cert: 'own.pem', key: 'own.key' }],
      ['b.test', { cert: 'shared.pem', key: 'shared.key' }],
    ],
  )
})

test('a redirect to $server_name goes to the first name of the server', () => {
  const redirect = (...names: readonly string[]) =>
    routesOf(`server_name ${names.join(' ')};`, 'return 301 https://$server_name$request_uri;')[0]?.policies
  assert.deepEqual(redirect('a.test', 'www.a.test'), {
    requestRedirect: { scheme: 'https', authority: { host: 'a.test' }, status: 301 },
  })
  for (const name of ['_', '*.a.test', '~^a'])
    assert.deepEqual(Object.keys(redirect(name) ?? {}), ['directResponse'], name)
})

test('names of routes begin with a letter or a digit', () => {
  const names = routesOf(
    'location /_next/ { proxy_pass http://127.0.0.1:9000; }',
    'location ~ ^/_0-9-[a-z]+$ { proxy_pass http://127.0.0.1:9001; }',
  ).map(({ name }) => name)
  for (const name of names) assert.match(name, /^[A-Za-z0-9]/)
})

test('variables that the config sets once to a text are known in addresses without a path', () => {
  const backend = (...lines: readonly string[]) =>
    (routesOf(...lines).find(({ name }) => name === 'root') as { backends?: readonly object[] } | undefined)?.backends
  const set = 'set $app app.internal;'
  assert.deepEqual(backend(set, 'location / { proxy_pass http://$app:9000; }'), [{ host: 'app.internal:9000' }])
  assert.deepEqual(backend('location / { set $app a.test:80; proxy_pass http://${app}; }'), [{ host: 'a.test:80' }])
  for (const lines of [
    ['location / { proxy_pass http://$app:9000; }'],
    [set, 'location / { proxy_pass http://$app:9000/; }'],
    [set, 'set $app other;', 'location / { proxy_pass http://$app:9000; }'],
    [set, 'location / { if ($host = a) { set $app b; } proxy_pass http://$app:9000; }'],
    ['set $app $host;', 'location / { proxy_pass http://$app:9000; }'],
  ])
    assert.equal(backend(...lines), undefined, lines.join(' '))
})
