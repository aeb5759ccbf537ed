// The origin behind every proxy: nginx on the load core, or a small Node server when nginx is missing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatAnswer, PATHS } from '../chat.mjs'
import { makeAuthority } from '../certificate.mjs'
import { LOAD_CORE, startChild } from '../children.mjs'
import { findProgram, projectNode } from '../machine.mjs'
import { freePort, untilAnswers } from '../ports.mjs'

export const SMALL_BODY = '{"id":12345,"name":"portico","tags":["a","b"],"n":10}'

/** Replies larger than one packet, by path. */
export const FILES = { '/64k.bin': 64 * 1024, '/1m.bin': 1024 * 1024, '/16m.bin': 16 * 1024 * 1024 }

/** Responses of language models, by path. */
export const ANSWERS = Object.fromEntries(Object.entries(PATHS).map(([format, path]) => [path, chatAnswer(format)]))

export async function startOrigin(dir) {
  const port = await freePort()
  for (const [path, size] of Object.entries(FILES)) writeFileSync(join(dir, path), Buffer.alloc(size, 'portico '))
  const nginx = findProgram('nginx')
  const log = join(dir, 'origin.log')
  const config = join(dir, 'origin.conf')
  if (nginx) writeFileSync(config, nginxOrigin(dir, port))
  const child = nginx
    ? startChild({ command: nginx, args: ['-p', dir, '-e', log, '-c', config], core: LOAD_CORE, log })
    : startChild({
        command: process.execPath,
        args: [join(import.meta.dirname, 'node.mjs'), String(port), dir],
        core: LOAD_CORE,
        log,
      })
  const problem = await untilAnswers(`http://127.0.0.1:${port}/`, child)
  if (problem) throw new Error(`the origin did not start: ${problem}`)
  return { port, kind: nginx ? 'nginx' : 'Node (nginx not found: it costs the load core more)', stop: child.stop }
}

/** Starts the gRPC services that proxies call. */
export async function startServices(dir) {
  const port = await freePort()
  const args = [join(import.meta.dirname, '../services.mjs'), String(port)]
  const child = startChild({ command: process.execPath, args, core: LOAD_CORE, log: join(dir, 'services.log') })
  const problem = await untilAnswers(`tcp://127.0.0.1:${port}`, child)
  if (problem) throw new Error(`the services did not start: ${problem}`)
  return { port, stop: child.stop }
}

/** Starts a mesh around the origin: its CA, a workload that is called through HBONE, and a port with plain TLS; null without openssl. */
export async function startMesh(dir, origin) {
  const files = join(dir, 'mesh')
  mkdirSync(files)
  if (!makeAuthority(files)) return null
  const token = join(files, 'token')
  writeFileSync(token, 'bench')
  const [ca, hbone, tls] = [await freePort(), await freePort(), await freePort()]
  const args = [join(import.meta.dirname, 'mesh.mjs'), files, ...[ca, hbone, tls, origin].map(String)]
  const child = startChild({ command: projectNode(), args, core: LOAD_CORE, log: join(dir, 'mesh.log') })
  for (const port of [ca, hbone, tls]) {
    const problem = await untilAnswers(`tcp://127.0.0.1:${port}`, child)
    if (problem) throw new Error(`the mesh did not start: ${problem}`)
  }
  return { ca, hbone, tls, token, root: join(files, 'ca.crt'), stop: child.stop }
}

function nginxOrigin(dir, port) {
  const answers = Object.entries(ANSWERS).map(([path, body]) => `    location = ${path} { return 200 '${body}'; }`)
  return `daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${dir}/origin.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 12000; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_body_temp_path ${dir}/origin-body;
  open_file_cache max=16;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    root ${dir};
    default_type application/json;
${answers.join('\n')}
    location / { return 200 '${SMALL_BODY}'; }
    location ~ \\.bin$ { default_type application/octet-stream; }
  }
}
`
}
