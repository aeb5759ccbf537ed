import assert from 'node:assert/strict'
import { request } from '../client.ts'
import { until, useOrigin } from '../scene.ts'
import type { ExampleCase } from './example-case.ts'

/** Examples about where requests go. */
export const trafficExamples: Record<string, ExampleCase> = {
  async 'plain-proxy.yaml'(t) {
    const most = await useOrigin(t, (_request, response) => response.setHeader('server', 'secret').end('most'))
    const rest = await useOrigin(t, (_request, response) => response.end('rest'))
    let drawn = 0
    return {
      replace: { '127.0.0.1:9001': most.host, '127.0.0.1:9002': rest.host },
      gateway: { random: () => drawn },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*ok$/, /^HTTP\/1.1 200 OK\r\n[^]*most$/],
      async check(gateway) {
        assert.equal((await request(gateway.port())).headers['server'], undefined)
        assert.equal(most.seen[0]?.headers['x-gateway'], 'portico')
        drawn = 0.91
        assert.equal((await request(gateway.port())).body, 'rest')
      },
    }
  },

  async 'canary.yaml'(t) {
    const stable = await useOrigin(t, (_request, response) => response.end('stable'))
    const canary = await useOrigin(t, (_request, response) => response.end('canary'))
    let drawn = 0.5
    return {
      replace: { '127.0.0.1:9001': stable.host, '127.0.0.1:9002': canary.host },
      gateway: { random: () => drawn },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*stable$/, /^HTTP\/1.1 200 OK\r\n[^]*x-version: canary\r\n[^]*canary$/],
      async check(gateway) {
        const answers: string[] = []
        for (let each = 0; each < 20; each++) {
          drawn = (each + 0.5) / 20
          answers.push((await request(gateway.port())).body)
        }
        assert.equal(answers.filter((body) => body === 'canary').length, 1)
      },
    }
  },

  async 'mirror.yaml'(t) {
    const orders = await useOrigin(t)
    const next = await useOrigin(t, (_request, response) => response.writeHead(500).end('broken'))
    let drawn = 0
    return {
      replace: { '127.0.0.1:9001': orders.host, 'port: 9002': `port: ${next.port}` },
      gateway: { random: () => drawn },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*ok$/],
      async check(gateway) {
        drawn = 0.5
        const headers = { authorization: 'Bearer of-the-client' }
        assert.equal((await request(gateway.port(), { path: '/not-copied', headers })).status, 200)
        drawn = 0.05
        const sent = { method: 'POST', path: '/copied', headers, body: 'three pears' }
        assert.equal((await request(gateway.port(), sent)).body, 'ok')
        const copyOf = (path: string) => next.seen.find(({ url }) => url === path)
        await until(() => copyOf('/copied') !== undefined)
        assert.equal(copyOf('/not-copied'), undefined)
        const copy = copyOf('/copied')
        assert.equal(copy?.body, 'three pears')
        assert.equal(copy?.headers['authorization'], undefined)
        assert.equal(orders.seen.at(-1)?.headers['authorization'], headers.authorization)
      },
    }
  },

  async 'browser-api.yaml'(t) {
    const orders = await useOrigin(t)
    const next = await useOrigin(t, (_request, response) => response.end('next'))
    let drawn = 0.5
    return {
      replace: { 'port: 9001': `port: ${orders.port}`, 'port: 9002': `port: ${next.port}` },
      gateway: { random: () => drawn },
      shows: [
        /^HTTP\/1.1 200 OK\r\n[^]*access-control-allow-origin: https:\/\/app\.example\.com\r\n[^]*ok$/,
        /^HTTP\/1.1 301 [^]*location: http:\/\/127\.0\.0\.1:\d+\/v1\/orders\r\n/,
      ],
      async check(gateway) {
        const headers = { origin: 'https://a.preview.example.com', 'access-control-request-method': 'DELETE' }
        const preflight = await request(gateway.port(), { method: 'OPTIONS', path: '/v1/orders', headers })
        assert.equal(preflight.headers['access-control-allow-origin'], headers.origin)
        assert.equal((await request(gateway.port(), { path: '/v1/orders?beta=1' })).body, 'next')
        assert.equal(
          (await request(gateway.port(), { path: '/v1/orders', headers: { 'x-beta': 'true' } })).body,
          'next',
        )
        drawn = 0
        const copies = next.seen.length
        assert.equal((await request(gateway.port(), { path: '/v1/orders/7' })).body, 'ok')
        assert.equal(orders.seen.at(-1)?.url, '/orders/7')
        await until(() => next.seen.length > copies)
      },
    }
  },

  async 'retries-and-timeouts.yaml'(t) {
    const catalog = await useOrigin(t, (_request, response) => {
      response.writeHead(catalog.seen.length === 2 || catalog.seen.length > 3 ? 200 : 503).end('tried')
    })
    return {
      replace: { 'host: catalog.internal, port: 8080': `host: 127.0.0.1, port: ${catalog.port}` },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*tried$/],
      async check(gateway) {
        while (catalog.seen.length < 2) await request(gateway.port())
        assert.equal((await request(gateway.port(), { method: 'POST', body: 'new' })).status, 503)
        assert.equal(catalog.seen.length, 3)
      },
    }
  },
}
