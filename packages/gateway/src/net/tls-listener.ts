// One chunk of the program, for configs with a listener that speaks TLS.
export { acceptTls } from './accept-tls.ts'
export { createServerTls } from './tls.ts'
