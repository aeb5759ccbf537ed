/** The other end does not keep to the rules: the stream is over. Its message never has contents of a line in it. */
export class StreamFault extends Error {
  override name = 'StreamFault'
}
