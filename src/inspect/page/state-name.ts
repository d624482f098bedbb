/** The last part of a state's path: what people call it. */
export function stateName(state: string): string {
  return state.slice(state.lastIndexOf('.') + 1)
}
