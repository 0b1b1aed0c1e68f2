// What this browser keeps for its reader, as JSON. It may refuse to keep anything, and may hold what nobody can read.
const kept = {
  read(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },

  // Whether it is kept now.
  write(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};
