/** Resolves in the next turn of the event loop, so that everything else gets its own before. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
