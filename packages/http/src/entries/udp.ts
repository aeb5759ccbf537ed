/** `@portico/http/udp`: ports for datagrams, and the sockets to backends; loaded only for configs that need them. */
export { DatagramSocket } from '../client/udp/datagram-socket.ts'
export { DatagramServer } from '../server/udp/datagram-server.ts'
