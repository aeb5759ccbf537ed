/** The other side violated the protocol, so the stream ends. The message never quotes contents of a line. */
export class StreamFault extends Error {
  override name = 'StreamFault'
}
