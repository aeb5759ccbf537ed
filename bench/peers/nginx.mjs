import { join } from 'node:path'
import { findProgram, programVersion } from '../machine.mjs'

/** @type {import('./index.mjs').Peer} */
export const nginx = {
  name: 'nginx',
  many: true,
  find() {
    const command = findProgram('nginx')
    return command && { command, version: programVersion(command, ['-v'], /nginx\/(\S+)/) }
  },
  plan: (setup) => ({
    files: { 'nginx.conf': config(setup) },
    args: ['-p', setup.dir, '-e', join(setup.dir, 'error.log'), '-c', join(setup.dir, 'nginx.conf')],
  }),
}

function config({ dir, port, origin, protocol, certificate, routes, unbuffered, logs }) {
  const listen = { http: '', https: ' ssl', h2c: ' http2', h2: ' ssl http2' }[protocol]
  const tls = `ssl_certificate ${certificate?.cert}; ssl_certificate_key ${certificate?.key}; ssl_protocols TLSv1.3;`
  const prefixes = routes > 1 ? Array.from({ length: routes }, (_, i) => `/r${i}/`) : ['/']
  return `daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${dir}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 14000; }
http {
  access_log ${logs ? `${dir}/access.log` : 'off'};
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  proxy_max_temp_file_size 0;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  ${unbuffered ? 'proxy_request_buffering off; proxy_buffering off; client_max_body_size 0;' : ''}
  upstream origin {
    server 127.0.0.1:${origin};
    keepalive 64;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
  }
  server {
    listen 127.0.0.1:${port}${listen} backlog=4096;
    ${listen.includes('ssl') ? tls : ''}
${prefixes.map((prefix) => `    location ${prefix} { proxy_pass http://origin; }`).join('\n')}
  }
}
`
}
