/** Admin servers, for the other programs of this project. */
export { parseAddress } from './address.ts'
export type { Address } from './address.ts'
export { createGuard } from './guard.ts'
export { createServer, pathOf, queryOf, text } from './http.ts'
export type { Reply } from './http.ts'
export { listen } from './listen.ts'
export type { Listening } from './listen.ts'
