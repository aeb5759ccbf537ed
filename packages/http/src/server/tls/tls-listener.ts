// One chunk of the program, for configs with a TLS listener.
export { acceptTls } from './accept-tls.ts'
export { createServerTls } from './tls.ts'
