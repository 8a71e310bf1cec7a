// The choices in forms, kept in this browser.

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(`choices ${name}`)) ?? {};
  } catch {
    return {}; // no storage, or damaged
  }
}

const value = (control) => (control.type === "checkbox" ? control.checked : control.value);

/** Set controls to their kept values. Returns those that changed. Their ids are the names. */
export function restore(name, controls) {
  const kept = read(name);
  return controls.filter((control) => {
    const before = value(control), known = kept[control.id];
    if (known === undefined || known === before) return false;
    if (control.type === "checkbox") control.checked = known === true;
    else if (!control.options || [...control.options].some((each) => each.value === known)) control.value = known;
    control.dispatchEvent(new Event("input"));
    return value(control) !== before;
  });
}

/** Keep the values of controls. */
export function keep(name, controls) {
  const kept = Object.fromEntries(controls.map((control) => [control.id, value(control)]));
  try {
    localStorage.setItem(`choices ${name}`, JSON.stringify(kept));
  } catch {
    // without a storage, the choices last as long as the page
  }
}
