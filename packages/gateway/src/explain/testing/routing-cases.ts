import { httpConfig, pathPrefix, routeTo } from '../../testing/scene.ts'
import { request, sendRaw } from '../../testing/client.ts'
import { requestTls } from '../../testing/tls-client.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'
import type { RefusalCase } from './refusal-case.ts'

const match = (more: object): object => ({ name: 'shop', matches: [{ path: { pathPrefix: '/shop' }, ...more }] })

export const routingCases: RefusalCase[] = [
  {
    name: 'no route for the path',
    config: ({ origin }) => httpConfig([routeTo(origin, {}, { name: 'shop', ...pathPrefix('/shop') })]),
    send: ({ port }) => request(port, { path: '/other' }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route shop would match with path below /shop.',
    values: { 'request.path': '/other' },
  },
  {
    name: 'no route for the method',
    config: ({ origin }) => httpConfig([routeTo(origin, {}, match({ method: 'POST' }))]),
    send: ({ port }) => request(port, { path: '/shop' }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route shop would match with method POST.',
  },
  {
    name: 'no route without a header, whose value stays hidden',
    config: ({ origin }) =>
      httpConfig([routeTo(origin, {}, match({ headers: [{ name: 'x-beta', value: { exact: 'secret-beta' } }] }))]),
    send: ({ port }) => request(port, { path: '/shop' }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route shop would match with header x-beta.',
    hides: ['secret-beta'],
  },
  {
    name: 'no route without a query parameter',
    config: ({ origin }) => httpConfig([routeTo(origin, {}, match({ query: [{ name: 'v', value: { exact: '2' } }] }))]),
    send: ({ port }) => request(port, { path: '/shop?v=1' }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route shop would match with query parameter v.',
  },
  {
    name: 'no route for the host, the nearest of two first',
    config: ({ origin }) =>
      httpConfig([
        routeTo(origin, {}, { ...match({ method: 'POST' }), name: 'far', hostnames: ['a.example'] }),
        routeTo(origin, {}, { ...match({}), name: 'near', hostnames: ['b.example'] }),
      ]),
    send: ({ port }) => request(port, { path: '/shop', headers: { host: 'c.example' } }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route near would match with hostname b.example.',
    alsoPass: ['route far would match with hostname a.example and method POST.'],
  },
  {
    name: 'another method is nearer than another path',
    config: ({ origin }) =>
      httpConfig([
        routeTo(origin, {}, { name: 'elsewhere', ...pathPrefix('/cart') }),
        routeTo(origin, {}, match({ method: 'POST' })),
      ]),
    send: ({ port }) => request(port, { path: '/shop' }),
    code: 'route_not_found',
    at: 'routes',
    passes: 'route shop would match with method POST.',
    alsoPass: ['route elsewhere would match with path below /cart.'],
  },
  {
    name: 'no listener for the host',
    config: ({ origin }) => httpConfig([routeTo(origin)], { listener: { hostname: 'shop.example' } }),
    send: ({ port }) => request(port, { headers: { host: 'other.example' } }),
    code: 'listener_not_found',
    at: null,
    passes: 'the host is shop.example.',
    values: { 'request.host': 'other.example' },
  },
  {
    name: 'a host of another TLS listener',
    config({ t, origin }) {
      const { dir } = useTlsFiles(t, ['a.test', 'b.test'])
      const listener = (name: string): object => ({
        name,
        hostname: `${name}.test`,
        protocol: 'HTTPS',
        tls: { cert: `${dir}/${name}.test.crt`, key: `${dir}/${name}.test.key` },
        routes: [routeTo(origin)],
      })
      return { binds: [{ port: 0, listeners: [listener('a'), listener('b')] }] }
    },
    send: ({ port }) =>
      requestTls(port, { servername: 'a.test', rejectUnauthorized: false, headers: { host: 'b.test' } }),
    code: 'misdirected',
    at: null,
    passes: 'the client connects with the server name (SNI) of the requested host.',
    values: { 'tls.sni': 'a.test', 'request.host': 'b.test' },
  },
  {
    name: 'a request that comes back to its gateway again and again',
    config: () => httpConfig([{ backends: [{ dynamicForwardProxy: { allowCidrs: ['127.0.0.0/8'], ports: [] } }] }]),
    send: ({ port }) => request(port, { headers: { host: `127.0.0.1:${port}` } }),
    pick: ({ reason }) => reason?.code === 'loop_detected',
    code: 'loop_detected',
    at: null,
    passes: 'no backend on the path of the request leads back to this gateway.',
    alsoPass: ['the host that the request names is not an address of this gateway.'],
    values: { passes: 5, hops: 5 },
    says: /has passed this gateway 5 times/,
  },
  {
    name: 'CONNECT where no route has it',
    config: ({ origin }) => httpConfig([routeTo(origin)]),
    send: ({ port }) => sendRaw(port, 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n'),
    code: 'method_not_allowed',
    at: 'policies',
    passes: 'the client uses another method.',
    alsoPass: ['the route has `upgrades` with `connect`.'],
  },
  {
    name: 'an upgrade that the route does not have',
    config: ({ origin }) => httpConfig([routeTo(origin, { upgrades: { protocols: ['connect'] } })]),
    send: ({ port }) => request(port, { headers: { upgrade: 'websocket', connection: 'upgrade' } }),
    code: 'upgrade_not_allowed',
    at: 'upgrades',
    passes: 'the client sends no `upgrade` header.',
    alsoPass: ['`upgrades` of the route lists the protocol.'],
  },
]
